/**
 * The agents of the agent-tool tests: a parent, and a child whose name is its run id. What a test sets for a run survives evictions; what
 * the hooks saw does too.
 */
import { RpcTarget } from "cloudflare:workers";
import {
  Think,
  type AgentToolRunInspection,
  type ChatRecoveryConfig,
  type ChatRecoveryOptions,
  type ChatStartEvent,
  type StreamCallback,
  type TurnConfig
} from "@cloudflare/think";
import { Agent } from "agents";
import { agentTool } from "agents/agent-tools";
import { tool, type LanguageModel, type ToolSet, type UIMessage } from "ai";
import { z } from "zod";
import { stallLimit } from "./stall-limit";

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
  /** Milliseconds of silence after which the watchdog fires; see `stall-limit.ts`. */
  stallMs?: number;
  readonly silences?: number;
  output?: (runId: string) => unknown;
  summary?: (runId: string, output: unknown) => string;
  input?: (input: unknown) => UIMessage | Promise<UIMessage>;
  start?: () => void | Promise<void>;
  /** Whether the child may give work away too. */
  readonly delegates?: boolean;
}

const children = new Map<string, ChildLab>();
/** What one test decides for a parent. */
export interface ParentLab {
  readonly model: LanguageModel;
  /** The base class gives a silent child up after so many ms. Default: two minutes. */
  readonly giveUpMs?: number;
  /** Milliseconds of silence after which the watchdog fires. Default: never. */
  readonly stallMs?: number;
  /** What the tool `work` does. */
  readonly work?: () => unknown;
  /** What `onChatRecovery` decides. */
  readonly recovery?: ChatRecoveryOptions;
}

const parents = new Map<string, ParentLab>();

export function openChild(runId: string, lab: ChildLab): ChildLab {
  children.set(runId, lab);
  return lab;
}

export function openParent(name: string, model: LanguageModel, lab: Omit<ParentLab, "model"> = {}): void {
  parents.set(name, { ...lab, model });
}

const delegate = () =>
  agentTool(ToolChild, {
    description: "Research one topic.",
    inputSchema: z.object({ query: z.string() }),
    displayName: "Researcher"
  });

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
      chatStreamStallTimeoutMs: { get: () => stallLimit(this.lab), set() {} }
    });
  }

  override async onStart(): Promise<void> {
    await this.lab.start?.();
  }

  override getTools(): ToolSet {
    return this.lab.delegates === true ? { research: delegate() } : {};
  }

  override getModel(): LanguageModel {
    return this.lab.model;
  }

  /** What is kept in memory for runs. */
  get runsInMemory(): number {
    // The symbol of the modules is not exported: nobody but a test looks behind it.
    const symbol = Object.getOwnPropertySymbols(Think.prototype).find(
      ({ description }) => description === "modules"
    );
    const self = this as unknown as Record<symbol, () => { readonly childRuns: { readonly size: number } }>;
    return symbol ? (self[symbol]?.call(this).childRuns.size ?? NaN) : NaN;
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

/** What one caller of `chat()` does and has seen, in every isolate. */
export interface CallerLab {
  /** While true, events are taken but not answered. */
  isHolding: boolean;
  events: number;
  unanswered: number;
  mostUnanswered: number;
  requestId?: string;
  readonly calls: string[];
  text: string;
  result?: string;
}

const callers = new Map<string, CallerLab>();

export function openCaller(name: string): CallerLab {
  const lab: CallerLab = {
    isHolding: false,
    events: 0,
    unanswered: 0,
    mostUnanswered: 0,
    calls: [],
    text: ""
  };
  callers.set(name, lab);
  return lab;
}

/** A caller of `chat()` at the other end of an RPC session. */
class Caller extends RpcTarget implements StreamCallback {
  readonly #lab: CallerLab;

  constructor(lab: CallerLab) {
    super();
    this.#lab = lab;
  }

  onStart({ requestId }: ChatStartEvent): void {
    this.#lab.requestId = requestId;
    this.#lab.calls.push("start");
  }

  async onEvent(json: string): Promise<void> {
    const lab = this.#lab;
    lab.events += 1;
    lab.unanswered += 1;
    lab.mostUnanswered = Math.max(lab.mostUnanswered, lab.unanswered);
    lab.text += (JSON.parse(json) as { delta?: string }).delta ?? "";
    while (lab.isHolding) await new Promise((resolve) => setTimeout(resolve, 1));
    lab.unanswered -= 1;
  }

  onDone(): void {
    this.#lab.calls.push("done");
  }

  onError(error: string): void {
    this.#lab.calls.push(`error: ${error}`);
  }

  onInterrupted(): void {
    this.#lab.calls.push("interrupted");
  }
}

/** Has nothing but the one member. */
class Listener extends RpcTarget {
  readonly #lab: CallerLab;

  constructor(lab: CallerLab) {
    super();
    this.#lab = lab;
  }

  onDone(): void {
    this.#lab.calls.push("done");
  }
}

/** What a parent was told at the start and the end of its runs. */
export interface ParentEvent {
  readonly runId: string;
  readonly status: string;
  readonly error?: string | undefined;
}

/** Not exported by the Worker: no such child can be made. */
class Nowhere extends Think {}

/** A child that is no agent tool. */
export class PlainChild extends Agent<Cloudflare.Env> {}

const CLASSES = { ToolChild, Nowhere, PlainChild };

export class ToolParent extends Think {
  readonly finished: ParentEvent[] = [];

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env);
    // The name is not known yet when the options of the class are resolved.
    const { _resolvedOptions: options } = this as unknown as { readonly _resolvedOptions: object };
    Object.defineProperty(options, "agentToolReattachNoProgressTimeoutMs", {
      get: () => this.lab?.giveUpMs ?? 120_000
    });
    Object.defineProperty(this, "chatStreamStallTimeoutMs", {
      get: () => this.lab?.stallMs ?? 0,
      set() {}
    });
  }

  get lab(): ParentLab | undefined {
    return parents.get(this.name);
  }

  override getModel(): LanguageModel {
    return this.lab?.model ?? super.getModel();
  }

  override onChatRecovery(): ChatRecoveryOptions {
    return this.lab?.recovery ?? {};
  }

  /** A tool that exists for one turn. */
  override beforeTurn(): TurnConfig {
    return { tools: { later: delegate() } };
  }

  override getTools(): ToolSet {
    return {
      research: delegate(),
      work: tool({
        description: "Works.",
        inputSchema: z.object({}),
        execute: async () => this.lab?.work?.()
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

  /** Talks to an agent over RPC: a child of this one, or one of its own. */
  async talkTo(
    name: string,
    kind: "child" | "other" = "child",
    members: "all" | "few" = "all"
  ): Promise<void> {
    const lab = callers.get(this.name) ?? openCaller(this.name);
    const agent: Pick<ToolChild, "chat"> =
      kind === "child" ? await this.subAgent(ToolChild, name) : this.env.ToolChild.getByName(name);
    const callback = members === "all" ? new Caller(lab) : new Listener(lab);
    try {
      await agent.chat("Hi", callback);
      lab.result = "resolved";
    } catch (error) {
      lab.result = String(error);
    }
  }

  async messagesOf(name: string): Promise<UIMessage[]> {
    return copy(await (await this.subAgent(ToolChild, name)).getMessages());
  }

  async stopTalking(name: string, requestId: string): Promise<void> {
    await (await this.subAgent(ToolChild, name)).cancelChat(requestId);
  }

  /** Runs several children at once; the keys of `runs` are their ids. */
  async delegate(
    runs: readonly string[],
    kind: keyof typeof CLASSES = "ToolChild"
  ): Promise<
    {
      readonly runId: string;
      readonly status: string;
      readonly error?: string | undefined;
      readonly summary?: string | undefined;
    }[]
  > {
    const results = runs.map((runId) => this.runAgentTool(CLASSES[kind] as never, { input: "Go", runId }));
    return copy(await Promise.all(results));
  }

  /** Runs a child without waiting for it, or without showing what it says. */
  async delegateQuietly(runId: string, how: "detached" | "terminal"): Promise<string> {
    const options = { input: "Go", runId };
    const { status } =
      how === "detached"
        ? await this.runAgentTool(ToolChild, { ...options, detached: true })
        : await this.runAgentTool(ToolChild, { ...options, eventDelivery: "terminal" });
    return status;
  }

  /** Makes a child that does nothing. */
  async makeChild(name: string, kind: "ToolChild" | "PlainChild"): Promise<void> {
    if (kind === "ToolChild") await (await this.subAgent(ToolChild, name)).getMessages();
    else await this.subAgent(PlainChild, name);
  }

  async clearRuns(): Promise<void> {
    await this.clearAgentToolRuns();
  }

  /** A run without the parent's machinery: what the child itself says. */
  async startChild(name: string, input: unknown, runId = name): Promise<AgentToolRunInspection> {
    children.set(name, children.get(name) ?? { model: "none" });
    return copy(await (await this.subAgent(ToolChild, name)).startAgentToolRun(input, { runId }));
  }

  /** Leaves what a life of this object would leave that had just begun a run: an open row, and a child that works. */
  async forgetRun(runId: string): Promise<void> {
    await (await this.subAgent(ToolChild, runId)).startAgentToolRun("Go", { runId });
    this.ctx.storage.sql.exec(
      "INSERT INTO cf_agent_tool_runs (run_id, agent_type, status, display_order, started_at) VALUES (?, 'ToolChild', 'running', 0, ?)",
      runId,
      Date.now()
    );
  }

  /** What a start does with open runs, and a call that asks for one of them meanwhile. */
  async rejoin(runId: string): Promise<{ readonly status: string }> {
    const base = this as unknown as {
      _scheduleAgentToolRunRecovery(options: { readonly runIds: string[] }): Promise<void>;
    };
    void base._scheduleAgentToolRunRecovery({ runIds: [runId] });
    return copy(await this.runAgentTool(ToolChild, { input: "Go", runId }));
  }

  async inspectChild(runId: string, name = runId): Promise<AgentToolRunInspection | null> {
    return copy(await (await this.subAgent(ToolChild, name)).inspectAgentToolRun(runId));
  }

  /** From now on children are found only when `answer` is called; `asked` resolves when one is looked for. */
  holdChildren() {
    const { promise: asked, resolve: wasAsked } = Promise.withResolvers<void>();
    const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();
    this.#findChildren(async (find) => {
      wasAsked();
      await mayAnswer;
      return find();
    });
    return { asked, answer };
  }

  /** The next question to a child fails, as when the platform loses the connection. Resolves when it has. */
  async loseChildOnce(): Promise<void> {
    const { promise: lost, resolve } = Promise.withResolvers<void>();
    let isLost = false;
    this.#findChildren(async (find) => {
      if (isLost) return find();
      isLost = true;
      resolve();
      throw new Error("Network connection lost.");
    });
    return lost;
  }

  #findChildren(how: (find: () => Promise<unknown>) => Promise<unknown>): void {
    const base = this as unknown as {
      _cf_resolveSubAgent(className: string, name: string): Promise<unknown>;
    };
    const find = base._cf_resolveSubAgent.bind(this);
    base._cf_resolveSubAgent = (className, name) => how(() => find(className, name));
  }

  async crashChild(runId: string): Promise<void> {
    this.abortSubAgent(ToolChild, runId, new Error("crashed by the test"));
  }
}

/** Results of a call are tied to it; plain data is not. */
function copy<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}
