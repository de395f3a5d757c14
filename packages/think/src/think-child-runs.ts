/**
 * The part of the class that users extend which makes it an agent tool: a parent's `agentTool()` or `runAgentTool()` calls these methods.
 * One-line delegations and the author's override points, kept apart from the chat. `Think` extends it; nobody else does.
 */
import type { UIMessage } from "ai";
import type { AgentToolRunInspection, AgentToolStoredChunk } from "./child-runs/child-run";
import type { ChildRunsParts } from "./child-runs/child-runs";
import type { Modules } from "./compose";
import { MODULES, ThinkSessions } from "./think-sessions";

export abstract class ThinkChildRuns<
  Env extends Cloudflare.Env = Cloudflare.Env,
  State = unknown,
  Props extends object = object
> extends ThinkSessions<Env, State, Props> {
  /** @internal */
  abstract override [MODULES](): Modules;

  /** Starts a run and returns at once; a run that is known is not started again. Called by a parent. */
  async startAgentToolRun(
    input: unknown,
    options: { readonly runId: string; readonly signal?: AbortSignal }
  ): Promise<AgentToolRunInspection> {
    return this[MODULES]().childRuns.start(input, options);
  }

  /** Stops a run, also one that is being recovered. A run that is unknown or over stays as it is. Called by a parent. */
  async cancelAgentToolRun(runId: string, reason?: unknown): Promise<void> {
    return this[MODULES]().childRuns.cancel(runId, reason);
  }

  /** How a run stands, or null. One that nobody works on any more is ended first, unless `reconcile` is false. Called by a parent. */
  async inspectAgentToolRun(
    runId: string,
    options?: { readonly reconcile?: boolean }
  ): Promise<AgentToolRunInspection | null> {
    return this[MODULES]().childRuns.inspect(runId, options);
  }

  /** What a run has said so far, after a place in it. Default: everything. Called by a parent. */
  async getAgentToolChunks(
    runId: string,
    options?: { readonly afterSequence?: number }
  ): Promise<AgentToolStoredChunk[]> {
    return this[MODULES]().childRuns.chunks(runId, options?.afterSequence);
  }

  /** What a run said and says, until it is over: bytes, one JSON object `{sequence, body}` per line. Called by a parent. */
  async tailAgentToolRun(
    runId: string,
    options?: { readonly afterSequence?: number; readonly signal?: AbortSignal }
  ): Promise<ReadableStream<Uint8Array>> {
    return this[MODULES]().childRuns.tail(runId, options);
  }

  /** The message that puts a parent's input to the model. Default: a text as it is, anything else as JSON. */
  protected formatAgentToolInput(input: unknown): UIMessage | Promise<UIMessage> {
    return this[MODULES]().childRuns.defaultInput(input);
  }

  /** The structured output of a run, asked for when its turn is over. Default: none. */
  protected getAgentToolOutput(_runId: string): unknown {
    return undefined;
  }

  /** What the parent's model is told. Default: the text of the answer, else the output as text. */
  protected getAgentToolSummary(runId: string, output: unknown): string | Promise<string> {
    return this[MODULES]().childRuns.defaultSummary(runId, output);
  }

  /** A child that streams moves the turn that waits for it. Called by the base class. @internal */
  protected override async _onAgentToolStreamProgress(): Promise<void> {
    this[MODULES]().recovery.childProgress();
  }

  /** The author's side of runs. @internal */
  protected _childRunAuthor(): ChildRunsParts["author"] {
    return {
      input: (input) => this.formatAgentToolInput(input),
      output: (runId) => this.getAgentToolOutput(runId),
      summary: (runId, output) => this.getAgentToolSummary(runId, output)
    };
  }
}
