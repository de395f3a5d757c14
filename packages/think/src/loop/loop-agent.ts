/**
 * What the loop needs from the agent it runs for. The class implements `LoopAuthor`; `compose` adds what the modules provide.
 */
import type { LanguageModel, ToolSet, UIMessage } from "ai";
import type { Emit } from "../observability/events";
import type { ClientToolSchema } from "../protocol/frames";
import type { ClientToolExecutor } from "./client-tools";
import type { AgentHooks, TransformResult } from "./hook-types";
import type { HookObserver } from "./hooks";
import type { RepairPart } from "./repair-transcript";
import type { StepLimits } from "./step-guard";
import type { ToolSources } from "./tool-merge";

/** Whether and how long a turn waits for MCP servers; the timeout is in ms. */
export type McpWait = boolean | { readonly timeout: number };

/** The MCP servers of an agent, as far as a turn is concerned. */
export interface McpServers {
  /** False costs nothing else. */
  hasServers(): boolean;
  tools(): ToolSet;
  /** Resolves when every pending connection has settled, or after `timeoutMs`. */
  wait(timeoutMs: number): Promise<void>;
}

/** What the agent's author decides. Asked anew for every turn. */
export interface LoopAuthor {
  readonly mcp: McpServers;
  model(): LanguageModel;
  systemPrompt(): string | Promise<string>;
  /** The tools of the agent itself; MCP, client and turn tools are added by the loop. */
  tools(): ToolSources | Promise<ToolSources>;
  maxSteps(): number;
  sendReasoning(): boolean;
  waitForMcp(): McpWait;
  /** Only the hooks that the author has overridden. */
  hooks(): Partial<AgentHooks>;
  /** Who else follows the run, in order. */
  observers(): readonly HookObserver[];
  repairPart: RepairPart;
  /** What wraps a run's result. Undefined: nothing does, and the run is read once. */
  transformResult(): TransformResult | undefined;
}

export interface LoopAgent extends LoopAuthor {
  readonly emit: Emit;
  /** Takes the names of tools whose calls may be made again without harm. Called once per turn, before the model. */
  repeatable(names: ReadonlySet<string>): void;
  /** The limits at which a history is compacted in mid-turn. Undefined: never. */
  stepLimits(): StepLimits | undefined;
  /** Shortens the stored history. Null: there was nothing to do. */
  compact(): Promise<{ readonly shortened: boolean } | null>;
  /** Whether a call without an outcome was handed to another agent, whose answer the same call under the same id gives. */
  isHandedOver(toolCallId: string): boolean;
  /** Stores messages whose calls have an outcome now and tells the clients. Called only when there are some. */
  saveSettled(messages: readonly UIMessage[]): void;
}

/** One turn, as the loop sees it. */
export interface LoopInput {
  /** The conversation at the moment of the call: answers of tools may arrive while the request is being assembled. */
  messages(): readonly UIMessage[];
  readonly signal: AbortSignal;
  readonly continuation: boolean;
  readonly body?: Readonly<Record<string, unknown>> | undefined;
  readonly clientTools?: readonly ClientToolSchema[] | undefined;
  readonly onClientToolCall?: ClientToolExecutor | undefined;
}
