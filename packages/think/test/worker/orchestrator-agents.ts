/** An orchestrator and its helpers. Each test decides by name what they share and what their models say. */
import { Think } from "@cloudflare/think";
import {
  AgentRegistry,
  mcpTools,
  ParentBridge,
  ToolBridge,
  type ChildAddress,
  type ToolBridgeOptions
} from "@cloudflare/think/orchestrator";
import type { LanguageModel, ToolSet } from "ai";

declare global {
  namespace Cloudflare {
    interface Env {
      readonly Orchestrator: DurableObjectNamespace<Orchestrator>;
    }
  }
}

export interface OrchestratorSetup {
  readonly bridge?: (parent: Orchestrator) => ToolBridgeOptions;
  readonly model?: LanguageModel;
}

const setups = new Map<string, OrchestratorSetup>();
const models = new Map<string, LanguageModel>();

export function useOrchestrator(name: string, setup: OrchestratorSetup): void {
  setups.set(name, setup);
}

/** The model of every helper with this name. */
export function useHelperModel(name: string, model: LanguageModel): void {
  models.set(name, model);
}

export class Orchestrator extends Think<Cloudflare.Env> {
  override chatRecovery = false;
  readonly registry = new AgentRegistry(this);
  #bridge: ToolBridge | undefined;
  #stop: AbortController | undefined;
  #runStatus = "running";

  override getModel(): LanguageModel {
    return setups.get(this.name)?.model ?? super.getModel();
  }

  async toolBridge(): Promise<ToolBridge> {
    this.#bridge ??= new ToolBridge(setups.get(this.name)?.bridge?.(this));
    return this.#bridge;
  }

  override async onBeforeSubAgent(_request: Request, child: ChildAddress): Promise<Response | undefined> {
    return this.registry.refusal(child);
  }

  /** The echo server's tools, as a child would see them. */
  echoTools(): ToolSet {
    return mcpTools(this.mcp, { echo: ["echo"] });
  }

  /** Asks a helper and returns what it said. Tests call this with RPC, so only text goes out. */
  async ask(helper: string, question: string): Promise<string> {
    const child = await this.dynamicAgents.get(Helper, helper);
    return child.answer(question);
  }

  /** Starts a helper's turn and returns when it runs; `stopHelper` ends it. */
  async startHelper(helper: string): Promise<void> {
    const child = await this.dynamicAgents.get(Helper, helper);
    await child.begin("Go on.");
  }

  async stopHelper(helper: string): Promise<void> {
    const child = await this.dynamicAgents.get(Helper, helper);
    await child.cancelChat(await child.requestId());
  }

  async fileOf(
    helper: string,
    operation: "read" | "write" | "list" | "remove",
    path: string,
    content = ""
  ): Promise<string> {
    const child = await this.dynamicAgents.get(Helper, helper);
    return child.file(operation, path, content);
  }

  async outcomeOf(helper: string): Promise<string> {
    const child = await this.dynamicAgents.get(Helper, helper);
    return child.lastOutcome();
  }

  /** A helper of a helper reads through two bridges. */
  async askBelow(helper: string, below: string, path: string): Promise<string> {
    const child = await this.dynamicAgents.get(Helper, helper);
    return child.askBelow(below, path);
  }

  async spawn(name: string, title: string): Promise<void> {
    this.registry.register(Helper, { name, title });
    const child = await this.registry.open(Helper, name);
    await child.lastOutcome();
  }

  async removeHelper(name: string): Promise<boolean> {
    return this.registry.delete(Helper, name);
  }

  /** Runs a helper as an agent tool under its name, until it ends or `stopRun` is called. */
  async startRun(runId: string): Promise<void> {
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    void this.runAgentTool(Helper, { input: "Go on.", runId, signal }).then(
      ({ status }) => void (this.#runStatus = status)
    );
  }

  async stopRun(): Promise<void> {
    this.#stop?.abort();
  }

  async runStatus(): Promise<string> {
    return this.#runStatus;
  }

  async abortHelper(helper: string): Promise<void> {
    this.dynamicAgents.abort(Helper, helper, new Error("aborted by the test"));
  }
}

/** A helper's own helper: its parent is a facet. */
export class Assistant extends Think<Cloudflare.Env> {
  readonly parent = new ParentBridge(async () => (await this.parentAgent(Helper)).toolBridge());

  async read(path: string): Promise<string> {
    return (await this.parent.workspace.readFile(path)) ?? "missing";
  }
}

export class Helper extends Think<Cloudflare.Env> {
  override chatRecovery = false;
  readonly parent = new ParentBridge(async () => (await this.parentAgent(Orchestrator)).toolBridge());
  override workspace = this.parent.workspace;
  #running: Promise<void> = Promise.resolve();
  #requestId = "";
  #outcome = "";

  override getModel(): LanguageModel {
    return models.get(this.name) ?? super.getModel();
  }

  override async beforeTurn() {
    return { tools: await this.parent.tools() };
  }

  async answer(question: string): Promise<string> {
    await this.begin(question);
    await this.#running;
    return this.#outcome;
  }

  /** Starts a turn without waiting for it. */
  async begin(question: string): Promise<void> {
    let said = "";
    this.#outcome = "";
    const callback = {
      onStart: ({ requestId }: { readonly requestId: string }) => void (this.#requestId = requestId),
      onEvent: (json: string) => {
        const chunk = JSON.parse(json) as { readonly type: string; readonly delta?: string };
        if (chunk.type === "text-delta") said += chunk.delta ?? "";
      },
      onDone: () => void (this.#outcome ||= `said ${said}`),
      onError: (error: string) => void (this.#outcome = `failed: ${error}`)
    };
    this.#running = this.chat(question, callback).then(
      () => void (this.#outcome ||= "stopped"),
      (error: unknown) => void (this.#outcome = `threw: ${String(error)}`)
    );
  }

  async requestId(): Promise<string> {
    return this.#requestId;
  }

  async lastOutcome(): Promise<string> {
    return this.#outcome;
  }

  /** What this helper was given, handed on. */
  async toolBridge(): Promise<ToolBridge> {
    return new ToolBridge({ workspace: { files: this.workspace } });
  }

  async askBelow(name: string, path: string): Promise<string> {
    const child = await this.dynamicAgents.get(Assistant, name);
    return child.read(path);
  }

  /** One operation on the parent's files; a failure as text. */
  async file(operation: "read" | "write" | "list" | "remove", path: string, content = ""): Promise<string> {
    try {
      switch (operation) {
        case "read":
          return (await this.workspace.readFile(path)) ?? "missing";
        case "write":
          return String(await this.workspace.writeFile(path, content));
        case "list":
          return (await this.workspace.readDir(path)).map((entry) => entry.path).join(" ");
        case "remove":
          return String(await this.workspace.rm(path, { recursive: true }));
      }
    } catch (error) {
      return String(error);
    }
  }
}
