/**
 * Ties turns to runs. A turn knows its owner, also when recovery carries it on in another isolate; so chunks and ends belong to a run
 * by the turn they come from, and nothing is read out of what clients are sent.
 *
 * I1. The run's row names the turn's request and stream before the model is asked.
 * I2. An ended turn leaves all of its chunks in storage: live readers and later ones see the same.
 */
import type { ResumableStream } from "../stream/resumable-stream";
import type { Turn, TurnResult } from "../turn/turn";
import type { TurnRequest, TurnSink } from "../turn/turn-parts";
import { isOpen, runOfOwner, type ChildRun } from "./child-run";
import type { LiveRuns } from "./live-runs";
import type { RunLog } from "./run-log";
import type { RunStore } from "./run-store";
import type { Settlement } from "./settlement";
import { endOfTurn } from "./verdict";

export interface RunTurnsParts {
  readonly store: RunStore;
  readonly log: RunLog;
  readonly live: LiveRuns;
  readonly settlement: Settlement;
  readonly stream: Pick<ResumableStream, "record" | "flush">;
  /** The current generation of the turn queue. */
  readonly generation: () => number;
}

export class RunTurns {
  readonly #parts: RunTurnsParts;

  constructor(parts: RunTurnsParts) {
    this.#parts = parts;
  }

  /** Opens the sink of any turn; that of a run's turn also feeds the run. */
  open(turn: Turn, openSink: () => TurnSink): TurnSink {
    const { log, store } = this.#parts;
    log.makeRoom();
    const sink = openSink();
    const runId = runOfOwner(turn.ownerId);
    const run = runId === undefined ? undefined : store.get(runId);
    return run && isOpen(run) ? this.#feed(run, turn, sink) : sink;
  }

  /** Runs a turn of recovery; when it carries a run on, its result is the run's. */
  async follow(
    request: TurnRequest,
    run: (request: TurnRequest) => Promise<TurnResult>
  ): Promise<TurnResult> {
    const runId = runOfOwner(request.ownerId);
    if (runId === undefined) return run(request);
    try {
      const result = await run(request);
      // A skipped attempt found its object changed; recovery closes its incident, and the run is judged by that.
      if (result.status !== "skipped") await this.ended(runId, result);
      return result;
    } finally {
      this.#parts.live.remove(runId);
    }
  }

  /** A turn of the run is over. */
  async ended(runId: string, result: TurnResult): Promise<void> {
    const { live, settlement, generation } = this.#parts;
    const run = live.get(runId);
    const end = endOfTurn(result, run !== undefined && run.generation !== generation());
    if (end) return settlement.end(runId, end);
    // Recovery carries it on; whoever watches the run goes on waiting.
    live.remove(runId);
  }

  #feed(run: ChildRun, turn: Turn, sink: TurnSink): TurnSink {
    const { log, live, stream } = this.#parts;
    const { runId } = run;
    const { requestId, generation } = turn;
    if (!live.get(runId)) live.add({ runId, requestId, generation, controller: new AbortController() });
    this.#bind(run, requestId);
    return {
      foreignTool: (chunk) => sink.foreignTool(chunk),
      save: (message) => sink.save(message),
      chunk: (chunk, json) => {
        const pending = sink.chunk(chunk, json);
        log.push(runId, chunk, json);
        live.tell(runId);
        return pending;
      },
      restart: () => {
        log.makeRoom();
        sink.restart();
        this.#bind(run, requestId);
      },
      end: (outcome, message) => {
        stream.flush();
        sink.end(outcome, message);
      }
    };
  }

  #bind(run: ChildRun, requestId: string): void {
    const { store, log, live, stream } = this.#parts;
    const { runId } = run;
    const streamId = stream.record?.id ?? "";
    store.bind(
      runId,
      { requestId, streamId, firstSequence: log.begin(run) },
      run.inputId ?? live.get(runId)?.inputId
    );
  }
}
