/**
 * `ParentBridge`: the child's end of its parent's `ToolBridge`. Keep one in a field; `tools()` goes into `beforeTurn`, `workspace` may become
 * `this.workspace`.
 *
 * I1. The parent is reached anew for each call, so an eviction of either side between two calls is never seen.
 * I2. When the turn is stopped, the running call is stopped in the parent, by its id.
 */
import type { ToolSet } from "ai";
import { jsonTool, type SdkTool, type ToolCallOptions } from "../loop/sdk-tool";
import { ThinkError } from "../shared/errors/think-error";
import { ORCHESTRATOR_LIMITS } from "../shared/limits";
import { systemClock, systemIds } from "../shared/system";
import type { WorkspaceLike } from "../workspace/workspace-like";
import { BridgeLine, type OpenBridge } from "./bridge-line";
import { parseAnswer, type BridgeOffer, type SharedTool } from "./bridge-protocol";
import { RemoteWorkspace } from "./remote-workspace";

export interface SharedToolOptions {
  /** Put before each name, so that a shared `read` does not replace the child's own. Default: nothing. */
  readonly prefix?: string;
}

export class ParentBridge {
  /** The parent's files. Without a `workspace` in the parent's bridge every operation fails with `tool-not-shared`. */
  readonly workspace: WorkspaceLike;
  readonly #line: BridgeLine;

  /** @param open - reaches the parent's bridge: `async () => (await this.parentAgent(Parent)).toolBridge()` */
  constructor(open: OpenBridge) {
    this.#line = new BridgeLine(open, systemClock);
    this.workspace = new RemoteWorkspace(this.#line);
  }

  /** The tools that the parent shares now, for `beforeTurn` to return as `tools`. */
  async tools(options: SharedToolOptions = {}): Promise<ToolSet> {
    const { prefix = "" } = options;
    const offer = await this.#line.use(async (bridge) => readOffer(await bridge.describe()), {
      what: "the question for its tools",
      timeoutMs: ORCHESTRATOR_LIMITS.operationTimeoutMs,
      repeatable: true
    });
    return Object.fromEntries(
      offer.tools.map((shared) => [`${prefix}${shared.name}`, this.#tool(shared, offer.callTimeoutMs)])
    );
  }

  #tool({ name, description, inputSchema }: SharedTool, callTimeoutMs: number): SdkTool {
    return jsonTool({
      description,
      parameters: inputSchema,
      execute: (input, options) => this.#call(name, input, { options, callTimeoutMs })
    });
  }

  async #call(
    tool: string,
    input: unknown,
    { options, callTimeoutMs }: { readonly options: ToolCallOptions; readonly callTimeoutMs: number }
  ): Promise<unknown> {
    const { abortSignal } = options;
    abortSignal?.throwIfAborted();
    const callId = systemIds.next();
    return this.#line.use(
      async (bridge) => {
        // The answer to the call tells how it ended; that the message itself was lost with the parent changes nothing.
        const stop = () => void bridge.abort(callId).catch(() => undefined);
        abortSignal?.addEventListener("abort", stop, { once: true });
        try {
          const answer = parseAnswer(await bridge.call({ callId, tool, input: JSON.stringify(input ?? {}) }));
          if (answer.ok) return answer.output;
          throw new ThinkError(answer.message, {
            code: answer.code,
            retryable: answer.code === "bridge-busy"
          });
        } finally {
          abortSignal?.removeEventListener("abort", stop);
        }
      },
      { what: `the tool "${tool}"`, timeoutMs: callTimeoutMs + ORCHESTRATOR_LIMITS.graceMs }
    );
  }
}

function readOffer(text: string): BridgeOffer {
  const answer = parseAnswer(text);
  if (!answer.ok) throw new ThinkError(answer.message, { code: answer.code });
  return answer.output as BridgeOffer;
}
