/**
 * The child's side of agent-tool runs: starting, cancelling, inspecting and following work that a parent asked this agent for.
 *
 * I1. One turn per run id, however often it is started.
 * I2. A run ends once, by the result of its own turn, whether anybody follows it or not; siblings and other turns cannot touch it.
 * I3. Every open run is live here, waits for recovery, or is judged when somebody asks.
 */
import type { UIMessage } from "ai";
import type { Incident } from "../recovery/incident";
import type { Conversation } from "../session/conversation";
import type { Clock, Ids } from "../shared/clock";
import { errorText } from "../shared/errors/error-text";
import { ThinkError } from "../shared/errors/think-error";
import { CHILD_RUN_LIMITS } from "../shared/limits";
import type { ResumableStream } from "../stream/resumable-stream";
import type { Turn, TurnResult } from "../turn/turn";
import type { TurnRequest, TurnSink } from "../turn/turn-parts";
import { answersOf, inputText, parseOutput, summaryOf } from "./answers";
import {
  isOpen,
  ownerOf,
  type AgentToolRunInspection,
  type AgentToolStoredChunk,
  type ChildRun
} from "./child-run";
import type { ChunkArchive } from "./chunk-archive";
import { LiveRuns, type LiveRun } from "./live-runs";
import { RunLog } from "./run-log";
import type { RunStore } from "./run-store";
import { RunTurns } from "./run-turns";
import { hookInTime, Settlement, type RunAuthor } from "./settlement";
import { openTail, placeOf } from "./tail";
import { cut, endOfStranded, failure } from "./verdict";

export interface ChildRunsParts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly store: RunStore;
  readonly archive: ChunkArchive;
  readonly stream: ResumableStream;
  readonly conversation: Conversation;
  readonly author: RunAuthor & { input(input: unknown): UIMessage | Promise<UIMessage> };
  /** Stores messages and runs a turn that answers them; rejects when it failed before the model answered. */
  readonly save: (
    messages: readonly UIMessage[],
    options: Pick<TurnRequest, "requestId" | "ownerId" | "signal">
  ) => Promise<TurnResult>;
  /** Stops a turn; an id that is not running is no error. */
  readonly cancel: (requestId: string) => void;
  readonly generation: () => number;
  readonly recovery: {
    readonly isOn: boolean;
    /** Whether an interrupted turn waits to be carried on. */
    readonly isPending: boolean;
    /** The incident of an owner's turn. */
    incidentOf(ownerId: string): Incident | undefined;
  };
  /** Makes a message of what an earlier isolate left unfinished. */
  readonly settleOrphan: () => void;
}

export class ChildRuns {
  readonly #parts: ChildRunsParts;
  readonly #live = new LiveRuns();
  readonly #log: RunLog;
  readonly #settlement: Settlement;
  readonly #turns: RunTurns;

  constructor(parts: ChildRunsParts) {
    const { clock, store, author, stream, generation } = parts;
    const live = this.#live;
    const log = new RunLog(parts);
    const settlement = new Settlement({ clock, store, log, live, author });
    this.#parts = parts;
    this.#log = log;
    this.#settlement = settlement;
    this.#turns = new RunTurns({ store, log, live, settlement, stream, generation });
  }

  /** Everything that is kept in memory for runs; 0 when none runs and none is watched. */
  get size(): number {
    return this.#live.size + this.#log.size;
  }

  async start(
    input: unknown,
    { runId, signal }: { readonly runId: string; readonly signal?: AbortSignal | undefined }
  ): Promise<AgentToolRunInspection> {
    checkRunId(runId);
    const { store, clock, ids, generation } = this.#parts;
    const known = store.get(runId) && (await this.inspect(runId));
    if (known) return known;
    const startedAt = clock.now();
    const controller = new AbortController();
    const run = { runId, requestId: ids.next(), generation: generation(), controller };
    store.insert({ ...run, inputJson: storedInput(input), now: startedAt });
    this.#live.add(run);
    const stop = () => void this.cancel(runId, signal?.reason);
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted) stop();
    void this.#run(run, input).finally(() => signal?.removeEventListener("abort", stop));
    return { runId, status: "running", startedAt };
  }

  async cancel(runId: string, reason?: unknown): Promise<void> {
    const run = this.#parts.store.get(runId);
    if (!run || !isOpen(run)) return;
    this.#settlement.abort(runId, cut(reason === undefined ? undefined : errorText(reason)));
    this.#live.get(runId)?.controller.abort();
    // A turn that carries the run on has no controller of ours, but the row knows its request.
    if (run.requestId !== null) this.#parts.cancel(run.requestId);
  }

  /** Null: never heard of it. `reconcile: false` tells what is stored, without judging a run that nobody works on. */
  async inspect(runId: string, { reconcile = true } = {}): Promise<AgentToolRunInspection | null> {
    const { store } = this.#parts;
    const run = store.get(runId);
    if (!run) return null;
    if (reconcile && isOpen(run)) await this.#judge(run);
    return this.#inspection(store.get(runId) ?? run);
  }

  async chunks(runId: string, afterSequence?: unknown): Promise<AgentToolStoredChunk[]> {
    return this.#log.all(runId, placeOf(afterSequence));
  }

  async tail(
    runId: string,
    options: { readonly afterSequence?: unknown; readonly signal?: AbortSignal | undefined } = {}
  ): Promise<ReadableStream<Uint8Array>> {
    const { store } = this.#parts;
    const run = store.get(runId);
    if (run && isOpen(run)) await this.#judge(run);
    const source = {
      page: (after: number) => this.#log.page(runId, after),
      isOver: () => {
        const current = store.get(runId);
        return !current || !isOpen(current);
      },
      watch: (news: () => void) => this.#live.watch(runId, news)
    };
    return openTail(source, placeOf(options.afterSequence), options.signal);
  }

  /** Whether the turn of this owner is still wanted; true for owners that are not runs. */
  isWanted(runId: string | undefined): boolean {
    const run = runId === undefined ? undefined : this.#parts.store.get(runId);
    return !run || isOpen(run);
  }

  /** Opens the sink of any turn. */
  open(turn: Turn, openSink: () => TurnSink): TurnSink {
    return this.#turns.open(turn, openSink);
  }

  /** Runs a turn of recovery. */
  follow(request: TurnRequest, run: (request: TurnRequest) => Promise<TurnResult>): Promise<TurnResult> {
    return this.#turns.follow(request, run);
  }

  /** Recovery is through with a turn, for better or worse: a parent that waits for it must not wait any longer. */
  async recovered(): Promise<void> {
    // What recovery writes last must be written.
    await Promise.resolve();
    for (const run of this.#parts.store.open()) await this.#judge(run);
  }

  /** The conversation was cleared. */
  cleared(): void {
    this.#log.clear();
  }

  /** The default question of a run. */
  defaultInput(input: unknown): UIMessage {
    return {
      id: this.#parts.ids.next(),
      role: "user",
      parts: [{ type: "text", text: inputText(input) }]
    };
  }

  /** The default summary of a run. */
  defaultSummary(runId: string, output: unknown): string {
    return summaryOf(this.#answers(runId), output);
  }

  async #run(run: LiveRun, input: unknown): Promise<void> {
    const { author, save, clock } = this.#parts;
    const { runId, requestId, controller } = run;
    try {
      const message = await hookInTime(clock, "formatAgentToolInput", () => author.input(input));
      run.inputId = message.id;
      const result = await save([message], {
        requestId,
        ownerId: ownerOf(runId),
        signal: controller.signal
      });
      await this.#turns.ended(runId, result);
    } catch (error) {
      await this.#settlement.end(runId, failure(errorText(error)));
    }
  }

  /** Ends a run that nobody works on, unless it can still go on by itself. */
  async #judge(run: ChildRun): Promise<void> {
    const { runId, streamId } = run;
    if (this.#live.get(runId)) return;
    const { stream, recovery, settleOrphan } = this.#parts;
    if (run.status === "starting" && run.inputJson !== null && recovery.isOn) {
      // What was interrupted goes first: a new question would make it obsolete.
      if (!recovery.isPending && stream.active === null) this.#begin(run);
      return;
    }
    const isStranded = !recovery.isOn && !stream.isLive && stream.active?.id === streamId;
    if (isStranded) settleOrphan();
    const { record } = stream;
    const end = endOfStranded({
      incident: recovery.incidentOf(ownerOf(runId)),
      isBusy: stream.active !== null,
      isCutOff: isStranded,
      stream:
        record && record.id === streamId
          ? { error: record.error, aborted: record.aborted ?? false }
          : undefined,
      isAnswered: run.status === "running" && this.#answers(runId).length > 0
    });
    if (end) await this.#settlement.end(runId, end);
  }

  /** The isolate died before the run had a turn: it has one now. */
  #begin({ runId, requestId, inputJson }: ChildRun): void {
    const { generation, ids } = this.#parts;
    const controller = new AbortController();
    const run = { runId, requestId: requestId ?? ids.next(), generation: generation(), controller };
    this.#live.add(run);
    void this.#run(run, parseOutput(inputJson));
  }

  #answers(runId: string): UIMessage[] {
    const { store, conversation } = this.#parts;
    return answersOf(conversation.messages, store.get(runId)?.inputId ?? null);
  }

  async #inspection(run: ChildRun): Promise<AgentToolRunInspection> {
    const { runId, status, requestId, streamId, summary, error, startedAt, completedAt } = run;
    const output = run.outputJson === null ? await this.#currentOutput(runId) : parseOutput(run.outputJson);
    return {
      ...{ runId, status, startedAt },
      ...(requestId === null ? {} : { requestId }),
      ...(streamId === null ? {} : { streamId }),
      ...(output === undefined ? {} : { output }),
      ...(summary === null ? {} : { summary }),
      ...(error === null ? {} : { error }),
      ...(completedAt === null ? {} : { completedAt })
    };
  }

  /** A hook that fails must not hide the run's status. */
  async #currentOutput(runId: string): Promise<unknown> {
    const { author, clock } = this.#parts;
    try {
      return await hookInTime(clock, "getAgentToolOutput", () => author.output(runId));
    } catch (error) {
      console.warn(`[Think] The run ${runId} is shown without output: ${errorText(error)}`);
      return undefined;
    }
  }
}

/** What cannot be stored is not: then a run that an eviction takes before its turn is lost. */
function storedInput(input: unknown): string | null {
  try {
    const json: unknown = JSON.stringify(input);
    return typeof json === "string" && json.length <= CHILD_RUN_LIMITS.inputChars ? json : null;
  } catch {
    return null;
  }
}

function checkRunId(runId: unknown): void {
  if (typeof runId === "string" && runId !== "" && runId.length <= CHILD_RUN_LIMITS.runIdChars) return;
  const rule = `a text of 1 to ${CHILD_RUN_LIMITS.runIdChars} characters`;
  throw new ThinkError(`This is no run id: startAgentToolRun(input, { runId }) needs ${rule}.`, {
    code: "invalid-option"
  });
}
