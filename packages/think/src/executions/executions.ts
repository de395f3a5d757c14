/**
 * Decisions about paused executions: runs or refuses what waits, and puts the outcome where the pause is shown. The class offers the
 * three methods to clients.
 *
 * I1. Nothing throws: whoever approves gets an answer, whatever the state of the execution.
 * I2. Only a tool output that is still paused under the same id is replaced; everything else stays as it is, untold and unwritten.
 * I3. One decision per execution at a time: a second one cannot overwrite the pause while the first is being carried out.
 * I4. What was decided for a conversation that was cleared or left meanwhile is not told in the next one.
 */
import type { UIMessage } from "ai";
import { isToolPart } from "../session/parts";
import type { Ids } from "../shared/clock";
import { errorText } from "../shared/errors/error-text";
import { isRecord } from "../shared/json";
import { EXECUTE_LIMITS } from "../shared/limits";
import {
  boundedText,
  jsonOf,
  toExecuteOutput,
  type ExecutionOutcome,
  type PendingAction
} from "../tools/execute/outputs";

/** What keeps executions; the runtime of `createExecuteTool` is one. */
export interface ExecutionRuntime {
  pending(executionId?: string): Promise<readonly PendingAction[]>;
  approve(options: { readonly executionId: string }): Promise<unknown>;
  /** False when the action was not pending any more. */
  reject(options: { readonly executionId: string; readonly seq: number }): Promise<boolean>;
}

export interface ExecutionsHost {
  readonly ids: Ids;
  readonly runtime: () => ExecutionRuntime | undefined;
  /** The message that is being streamed. */
  readonly live: () => UIMessage | undefined;
  /** Stored messages, newest first, read as they are walked. */
  readonly newestFirst: () => Iterable<UIMessage>;
  readonly replace: (toolCallId: string, executionId: string, output: unknown) => boolean;
  readonly append: (message: UIMessage) => void;
  /** Changes when the conversation is cleared or left for another one. */
  readonly generation: () => number;
  /** Lets the model go on; the connection is the one that decided, if any. */
  readonly carryOn: (connectionId: string | null) => void;
}

const NO_RUNTIME = "No codemode runtime: createExecuteTool(this) has not been called in getTools().";

export class Executions {
  readonly #host: ExecutionsHost;
  readonly #deciding = new Set<string>();

  constructor(host: ExecutionsHost) {
    this.#host = host;
  }

  /** What waits for a person, with full arguments, newest execution first. */
  async pending(executionId?: string): Promise<PendingAction[]> {
    try {
      return [...((await this.#host.runtime()?.pending(executionId)) ?? [])];
    } catch (error) {
      console.error(`[Think] Pending executions could not be read: ${errorText(error)}`, error);
      return [];
    }
  }

  async approve(executionId: string, connectionId: string | null): Promise<ExecutionOutcome> {
    const generation = this.#host.generation();
    return this.#decide(executionId, "is not paused: it is being decided", async (runtime) => {
      const outcome = toExecuteOutput(await runtime.approve({ executionId }));
      if (!(await stillWaits(runtime, outcome))) this.#apply(outcome, { connectionId, generation });
      return outcome;
    });
  }

  async reject(
    executionId: string,
    reason: string | undefined,
    connectionId: string | null
  ): Promise<ExecutionOutcome> {
    const generation = this.#host.generation();
    const gone = `Execution "${executionId}" is no longer pending.`;
    return this.#decide(executionId, "is no longer pending", async (runtime) => {
      const [action] = await runtime.pending(executionId);
      if (!action || !(await runtime.reject({ executionId, seq: action.seq })))
        return failed(executionId, gone);
      const outcome: ExecutionOutcome = {
        status: "rejected",
        executionId,
        reason: boundedText(reason ?? "Rejected by user", EXECUTE_LIMITS.errorChars)
      };
      this.#apply(outcome, { connectionId, generation });
      return outcome;
    });
  }

  async #decide(
    executionId: string,
    busy: string,
    work: (runtime: ExecutionRuntime) => Promise<ExecutionOutcome>
  ): Promise<ExecutionOutcome> {
    if (this.#deciding.has(executionId)) return failed(executionId, `Execution "${executionId}" ${busy}.`);
    this.#deciding.add(executionId);
    try {
      const runtime = this.#host.runtime();
      return runtime ? await work(runtime) : failed(executionId, NO_RUNTIME);
    } catch (error) {
      console.error(`[Think] A decision about execution ${executionId} failed: ${errorText(error)}`, error);
      return failed(executionId, errorText(error));
    } finally {
      this.#deciding.delete(executionId);
    }
  }

  #apply(
    outcome: ExecutionOutcome,
    { connectionId, generation }: { readonly connectionId: string | null; readonly generation: number }
  ): void {
    const { executionId } = outcome;
    const place = this.#find(executionId);
    if (place.kind === "settled") return;
    if (place.kind === "paused") this.#host.replace(place.toolCallId, executionId, outcome);
    // The runtime does not know it either: there is nothing to tell the model.
    else if (outcome.status === "error" && outcome.error.includes("No execution")) return;
    else if (generation !== this.#host.generation()) return;
    else this.#host.append(outcomeMessage(outcome, this.#host.ids.next()));
    // A further pause leaves the model nothing to do.
    if (outcome.status !== "paused") this.#host.carryOn(connectionId);
  }

  *#candidates(): Generator<UIMessage> {
    const live = this.#host.live();
    if (live) yield live;
    yield* this.#host.newestFirst();
  }

  /** In the message that is being streamed first, then in stored ones, newest first. */
  #find(executionId: string): Place {
    let settled = false;
    for (const message of this.#candidates()) {
      for (const part of message.parts) {
        if (!isToolPart(part) || part.state !== "output-available") continue;
        if (!isRecord(part.output) || part.output.executionId !== executionId) continue;
        if (part.output.status === "paused") return { kind: "paused", toolCallId: part.toolCallId };
        settled = true;
      }
    }
    return { kind: settled ? "settled" : "gone" };
  }
}

/** A run that could not be taken up at all, for lack of what it needs, can still be decided later. */
async function stillWaits(runtime: ExecutionRuntime, outcome: ExecutionOutcome): Promise<boolean> {
  return outcome.status === "error" && (await runtime.pending(outcome.executionId)).length > 0;
}

type Place =
  | { readonly kind: "paused"; readonly toolCallId: string }
  /** Another tab was faster. */
  | { readonly kind: "settled" }
  /** The tool call is not in the history any more. */
  | { readonly kind: "gone" };

const failed = (executionId: string, error: string): ExecutionOutcome => ({
  status: "error",
  executionId,
  error
});

function outcomeMessage(outcome: ExecutionOutcome, id: string): UIMessage {
  const { executionId } = outcome;
  const text = `The execution ${executionId}, whose call is not in the conversation any more, was decided. Its outcome: ${boundedText(jsonOf(outcome), EXECUTE_LIMITS.outcomeChars)}`;
  return { id: `exec-outcome-${executionId}-${id}`, role: "system", parts: [{ type: "text", text }] };
}
