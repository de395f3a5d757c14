/**
 * The agents of the agent-tool tests: a parent, and a child whose name is its run id. What a test sets for a run survives evictions; what
 * the hooks saw does too.
 */
import { Think, type AgentToolRunInspection, type ChatRecoveryConfig } from "@cloudflare/think";
import { agentTool } from "agents/agent-tools";
import type { LanguageModel, ToolSet, UIMessage } from "ai";
import { z } from "zod";

declare global {
  namespace Cloudflare {
    interface Env {
      readonly ToolParent: DurableObjectNamespace<ToolParent>;
      readonly ToolChild: DurableObjectNamespace<ToolChild>;
    }
  }
}

/** What one test decides for a child. */
export interface ChildLab {
  model: LanguageModel;
  chatRecovery?: boolean | ChatRecoveryConfig;
  stallMs?: number;
  output?: (runId: string) => unknown;
  summary?: (runId: string, output: unknown) => string;
  input?: (input: unknown) => UIMessage | Promise<UIMessage>;
  start?: () => void;
}

const children = new Map<string, ChildLab>();
const parents = new Map<string, LanguageModel>();

export function openChild(runId: string, lab: ChildLab): ChildLab {
  children.set(runId, lab);
  return lab;
}

export function openParent(name: string, model: LanguageModel): void {
  parents.set(name, model);
}

export class ToolChild extends Think {
  get lab(): ChildLab {
    const lab = children.get(this.name);
    if (!lab) throw new Error(`No lab for ${this.name}: call openChild() first.`);
    return lab;
  }

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env);
    Object.defineProperties(this, {
      chatRecovery: { get: () => this.lab.chatRecovery ?? true, set() {} },
      chatStreamStallTimeoutMs: { get: () => this.lab.stallMs ?? 0, set() {} }
    });
  }

  override async onStart(): Promise<void> {
    this.lab.start?.();
  }

  override getModel(): LanguageModel {
    return this.lab.model;
  }

  protected override formatAgentToolInput(input: unknown): UIMessage | Promise<UIMessage> {
    return this.lab.input ? this.lab.input(input) : super.formatAgentToolInput(input);
  }

  protected override getAgentToolOutput(runId: string): unknown {
    return this.lab.output?.(runId);
  }

  protected override getAgentToolSummary(runId: string, output: unknown): string | Promise<string> {
    return this.lab.summary ? this.lab.summary(runId, output) : super.getAgentToolSummary(runId, output);
  }
}

/** What a parent was told at the start and the end of its runs. */
export interface ParentEvent {
  readonly runId: string;
  readonly status: string;
  readonly error?: string | undefined;
}

export class ToolParent extends Think {
  readonly finished: ParentEvent[] = [];

  override getModel(): LanguageModel {
    return parents.get(this.name) ?? super.getModel();
  }

  override getTools(): ToolSet {
    return {
      research: agentTool(ToolChild, {
        description: "Research one topic.",
        inputSchema: z.object({ query: z.string() }),
        displayName: "Researcher"
      }),
      measure: agentTool(ToolChild, {
        description: "Measure something.",
        inputSchema: z.object({ query: z.string() }),
        outputSchema: z.object({ value: z.number() })
      })
    };
  }

  override async onAgentToolFinish(
    run: { readonly runId: string },
    result: { readonly status: string; readonly error?: string }
  ): Promise<void> {
    this.finished.push({ runId: run.runId, status: result.status, error: result.error });
  }

  /** A run without the parent's machinery: what the child itself says. */
  async startChild(runId: string, input: unknown): Promise<AgentToolRunInspection> {
    return copy(await (await this.subAgent(ToolChild, runId)).startAgentToolRun(input, { runId }));
  }

  async inspectChild(runId: string, name = runId): Promise<AgentToolRunInspection | null> {
    return copy(await (await this.subAgent(ToolChild, name)).inspectAgentToolRun(runId));
  }

  async crashChild(runId: string): Promise<void> {
    this.abortSubAgent(ToolChild, runId, new Error("crashed by the test"));
  }
}

/** Results of a call are tied to it; plain data is not. */
function copy<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}
