/**
 * The Worker: a `Lead` per chat that delegates to `Researcher`s. Each researcher is an agent of its own, with its own conversation, stream
 * and address; the lead shares its library with them through a bridge and keeps their runs until somebody cleans up.
 */
import { Think } from "@cloudflare/think";
import { AgentRegistry, ParentBridge, ToolBridge, type ChildAddress } from "@cloudflare/think/orchestrator";
import { callable, routeAgentRequest } from "agents";
import { agentTool } from "agents/agent-tools";
import type { LanguageModel, ToolSet } from "ai";
import { z } from "zod";
import type { Env } from "./env";
import { LIBRARY } from "./library";
import { createLeadModel } from "./model/lead";
import { createResearcherModel } from "./model/researcher";
import { RESEARCH_TOOL, RUNS_CLEARED } from "./shared/run-names";

/** Talks to the person, and sends researchers. */
export class Lead extends Think<Env> {
  /** Clients reach the runs of this lead and nothing else. */
  readonly #registry = new AgentRegistry(this);

  /** What researchers share: the lead's files. Paths are the same on both sides. */
  readonly #bridge = new ToolBridge({
    workspace: { files: () => this.workspace, access: "read-write" }
  });

  override async onStart(): Promise<void> {
    if (await this.workspace.stat("/library")) return;
    for (const [path, text] of Object.entries(LIBRARY)) await this.workspace.writeFile(path, text);
  }

  override getModel(): LanguageModel {
    return createLeadModel();
  }

  override getSystemPrompt(): string {
    return "You lead a small research team. Send one researcher per topic, all at once, then put together what they found.";
  }

  override getTools(): ToolSet {
    return {
      [RESEARCH_TOOL]: agentTool(Researcher, {
        description: "Sends a researcher who reads the library on one topic and writes a note.",
        displayName: "Researcher",
        inputSchema: z.object({ topic: z.string().min(2).max(80) })
      })
    };
  }

  /** For researchers only: not callable by clients. */
  async toolBridge(): Promise<ToolBridge> {
    return this.#bridge;
  }

  override async onBeforeSubAgent(_request: Request, child: ChildAddress): Promise<Response | undefined> {
    return this.#registry.refusal(child);
  }

  /** Stops one researcher; the others go on, and the lead is told. */
  @callable()
  async stopRun(runId: string): Promise<void> {
    await this.cancelAgentTool(runId, "Stopped by the person.");
  }

  /** Deletes every retained run with its researcher's conversation. */
  @callable()
  async clearRuns(): Promise<void> {
    await this.clearAgentToolRuns();
    this.broadcast(JSON.stringify({ type: RUNS_CLEARED }));
  }
}

/** Works on one topic. Made per run, kept until the run is cleared; a person may look in and ask on. */
export class Researcher extends Think<Env> {
  readonly #lead = new ParentBridge(async () => (await this.parentAgent(Lead)).toolBridge());

  /** The lead's files: the library, and the notes of every researcher. */
  override workspace = this.#lead.workspace;

  override getModel(): LanguageModel {
    return createResearcherModel();
  }

  override getSystemPrompt(): string {
    return "You research one topic in /library, write what you found to /notes, and answer questions about it.";
  }

  protected override formatAgentToolInput(input: { readonly topic: string }) {
    const text = `Research: ${input.topic}`;
    return {
      id: crypto.randomUUID(),
      role: "user" as const,
      parts: [{ type: "text" as const, text }]
    };
  }

  /** What the lead gets: the last words, not everything that was said on the way. */
  protected override getAgentToolSummary(): string {
    const answer = this.messages.findLast((message) => message.role === "assistant");
    const last = answer?.parts.findLast((part) => part.type === "text");
    return last?.text ?? "";
  }

  /** A researcher has no children. */
  override async onBeforeSubAgent(): Promise<Response> {
    return new Response("No such agent", { status: 404 });
  }
}

export default {
  async fetch(request, env) {
    return (await routeAgentRequest(request, env)) ?? new Response("Not found", { status: 404 });
  }
} satisfies ExportedHandler<Env>;
