/**
 * Ends runs: asks the author for output and summary, writes the row once, lets everybody who waits go.
 *
 * I1. The first end wins; what comes later only cleans up.
 * I2. The author's hooks cannot keep a run from ending: they have a time limit, and what they throw fails the run.
 */
import type { Clock } from "../shared/clock";
import { errorText } from "../shared/errors/error-text";
import { ThinkError } from "../shared/errors/think-error";
import { inTime } from "../shared/in-time";
import { CHILD_RUN_LIMITS } from "../shared/limits";
import { cutSummary, outputJson } from "./answers";
import { isOpen, type ChildRunEnd } from "./child-run";
import type { LiveRuns } from "./live-runs";
import type { RunLog } from "./run-log";
import type { RunStore } from "./run-store";
import { failure } from "./verdict";

/** The author's side of runs. */
export interface RunAuthor {
  output(runId: string): unknown;
  summary(runId: string, output: unknown): string | Promise<string>;
}

export interface SettlementParts {
  readonly clock: Clock;
  readonly store: RunStore;
  readonly log: RunLog;
  readonly live: LiveRuns;
  readonly author: RunAuthor;
}

interface Answer {
  readonly outputJson: string | null;
  readonly summary: string | null;
}

const NO_ANSWER: Answer = { outputJson: null, summary: null };

export class Settlement {
  readonly #parts: SettlementParts;

  constructor(parts: SettlementParts) {
    this.#parts = parts;
  }

  async end(runId: string, end: ChildRunEnd): Promise<void> {
    const { store } = this.#parts;
    const run = store.get(runId);
    try {
      if (run && isOpen(run)) await this.#write(runId, end);
    } finally {
      this.leave(runId);
    }
  }

  /** Ends a run without asking the author: the parent does not want it any more. */
  abort(runId: string, error: string | undefined): void {
    const { store, live, clock } = this.#parts;
    store.finish(runId, { end: { status: "aborted", error }, ...NO_ANSWER, at: clock.now() });
    live.tell(runId);
  }

  /** Nothing of the run is left in memory; those who watch it look again. */
  leave(runId: string): void {
    const { live, log } = this.#parts;
    live.remove(runId);
    log.forget(runId);
    live.tell(runId);
  }

  async #write(runId: string, end: ChildRunEnd): Promise<void> {
    const { store, clock } = this.#parts;
    let result: { readonly end: ChildRunEnd } & Answer;
    try {
      result = { end, ...(await this.#answer(runId)) };
    } catch (error) {
      console.error(`[Think] The result of the agent-tool run ${runId} failed: ${errorText(error)}`, error);
      result = { end: end.status === "completed" ? failure(errorText(error)) : end, ...NO_ANSWER };
    }
    store.finish(runId, { ...result, at: clock.now() });
  }

  async #answer(runId: string): Promise<Answer> {
    const { author, clock } = this.#parts;
    const output = await hookInTime(clock, "getAgentToolOutput", () => author.output(runId));
    const json = outputJson(output);
    if (json !== null && json.length > CHILD_RUN_LIMITS.outputChars) {
      const size = `${json.length} characters of JSON, more than ${CHILD_RUN_LIMITS.outputChars}`;
      throw new ThinkError(
        `The output of the run is too large: ${size}. Keep it in the workspace or elsewhere and return a reference.`,
        { code: "output-too-large" }
      );
    }
    const summary = await hookInTime(clock, "getAgentToolSummary", () => author.summary(runId, output));
    return { outputJson: json, summary: cutSummary(summary) };
  }
}

/** What a hook of the author gives, unless it takes too long. */
export async function hookInTime<Value>(
  clock: Clock,
  name: string,
  hook: () => Value | Promise<Value>
): Promise<Value> {
  const ms = CHILD_RUN_LIMITS.hookMs;
  return inTime(clock, hook(), { ms, late: () => new Error(`${name}() took longer than ${ms} ms.`) });
}
