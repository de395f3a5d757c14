/** What the agent-tool tests share: a child on its own, and a parent with children. */
import { env, exports } from "cloudflare:workers";
import {
  connectChat,
  crash,
  gate,
  hang,
  runInAgent,
  scriptedModel,
  text,
  toolCall,
  type ChatClient,
  type Gate,
  type Script,
  type ScriptStep
} from "@cloudflare/think/testing";
import { expect, vi } from "vitest";
import { openChild, openParent, type ChildLab, type ParentLab } from "./worker/agent-tools-agents";
import { silencesIn } from "./worker/stall-limit";

let counter = 0;

export interface Line {
  readonly sequence: number;
  readonly body: string;
}

/** The lines of a tail. */
export function linesOf(bytes: string): Line[] {
  const lines = bytes.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as Line);
}

/** The text that chunks make. */
export function textOf(lines: readonly Line[]): string {
  return lines.map(({ body }) => (JSON.parse(body) as { delta?: string }).delta ?? "").join("");
}

export const patient = { timeout: 25_000, interval: 20 };

/** A child on its own: the methods a parent calls, called by the test. */
export function newChild(script: Script, lab: Partial<ChildLab> = {}) {
  const name = `run-${(counter += 1)}-${crypto.randomUUID()}`;
  const model = scriptedModel(script);
  const opened = openChild(name, { model, silences: silencesIn(script), ...lab });
  const stub = () => env.ToolChild.getByName(name);
  const at = (afterSequence: unknown) =>
    afterSequence === undefined ? {} : ({ afterSequence } as { afterSequence: number });
  const inspect = (runId = name) => runInAgent(stub(), (agent) => agent.inspectAgentToolRun(runId));
  return {
    runId: name,
    model,
    lab: opened,
    stub,
    inspect,
    start: (input: unknown = "Go", runId = name) =>
      runInAgent(stub(), (agent) => agent.startAgentToolRun(input, { runId })),
    cancel: (reason?: unknown, runId = name) =>
      runInAgent(stub(), (agent) => agent.cancelAgentToolRun(runId, reason)),
    chunks: (afterSequence?: unknown, runId = name) =>
      runInAgent(stub(), (agent) => agent.getAgentToolChunks(runId, at(afterSequence))),
    /** Reads a tail to its end. */
    tail: (afterSequence?: unknown, runId = name) =>
      runInAgent(stub(), async (agent) =>
        linesOf(await new Response(await agent.tailAgentToolRun(runId, at(afterSequence))).text())
      ),
    /** Waits until the run is over. */
    over: (runId = name) =>
      vi.waitFor(async () => {
        const run = await inspect(runId);
        expect(run?.completedAt).toBeDefined();
        return run;
      }, patient),
    /** What is kept in memory for runs. */
    kept: () => runInAgent(stub(), (agent) => agent.runsInMemory)
  };
}

/** A frame about a run, as a parent's clients get it. */
export interface RunFrame {
  readonly type: "agent-tool-event";
  readonly parentToolCallId?: string;
  readonly sequence: number;
  readonly replay?: boolean;
  readonly event: { readonly kind: string; readonly runId: string } & Record<string, unknown>;
}

export function runFrames(client: ChatClient, runId?: string): RunFrame[] {
  const frames = client.frames.filter((frame) => frame.type === "agent-tool-event");
  return (frames as unknown as RunFrame[]).filter(
    ({ event }) => runId === undefined || event.runId === runId
  );
}

/** A parent whose model runs a script, with children that run theirs. The key is the tool call's id. */
export function newFamily(
  script: Script,
  scripts: Readonly<Record<string, Script | (Partial<ChildLab> & { readonly script: Script })>>,
  parent: Omit<ParentLab, "model"> = {}
) {
  const name = `parent-${(counter += 1)}-${crypto.randomUUID()}`;
  const model = scriptedModel(script);
  openParent(name, model, parent);
  const models = Object.entries(scripts).map(([callId, child]) => {
    const { script: own, ...lab } = "script" in child ? child : { script: child };
    const childModel = scriptedModel(own);
    openChild(`agent-tool:${callId}`, { model: childModel, silences: silencesIn(own), ...lab });
    return [callId, childModel] as const;
  });
  const stub = () => env.ToolParent.getByName(name);
  return {
    name,
    model,
    children: new Map(models),
    stub,
    connect: () => connectChat(exports.default, { agent: "ToolParent", name }),
    rows: () =>
      runInAgent(stub(), (_agent, { storage }) =>
        storage.sql
          .exec("SELECT run_id, status, summary, error_message FROM cf_agent_tool_runs ORDER BY run_id")
          .toArray()
      )
  };
}

/** A call id that no other test uses: it names the child. */
export const callId = (): string => `call-${crypto.randomUUID()}`;

export type Family = ReturnType<typeof newFamily>;

const ENDS: ReadonlySet<string> = new Set(["finished", "error", "aborted", "interrupted"]);

/** How runs ended, as this client was told live. */
export const endsOf = (client: ChatClient): string[] =>
  runFrames(client)
    .filter(({ event, replay }) => ENDS.has(event.kind) && !replay)
    .map(({ event }) => event.kind);

/** What the parent's finish hook was told in this life. */
export const finishesOf = ({ stub }: Family) => runInAgent(stub(), (agent) => agent.finished);

/** Waits until the parent's model has had its last word. */
export const answered = (client: ChatClient) =>
  vi.waitFor(
    () => expect(JSON.stringify(client.messages.at(-1)?.parts.at(-1) ?? null)).toContain("Done."),
    patient
  );

/** What the parent's model was shown when it was asked again. */
export const promptOf = ({ model }: Family): string => JSON.stringify(model.calls[1]?.prompt);

export interface CrashedFamily {
  /** What the parent's model calls. Default: one call of `research`. */
  readonly calls?: (id: string) => ScriptStep;
  readonly child?: Partial<ChildLab>;
  readonly parent?: Omit<ParentLab, "model">;
  readonly clientTools?: readonly { readonly name: string }[];
}

/** A parent that has crashed while its child had said "Half". The child's second life is `second`, which begins at a gate if it likes. */
export async function crashedFamily(
  second: (again: Gate) => ScriptStep,
  { calls, child = {}, parent = {}, clientTools = [] }: CrashedFamily = {}
) {
  const id = callId();
  const [held, again] = [gate(), gate()];
  const script = [[text("Half"), held, hang()], second(again), "way"];
  const first = calls?.(id) ?? [toolCall("research", { query: "sky" }, { id })];
  const family = newFamily([first, "Done."], { [id]: { ...child, script } }, parent);
  (await family.connect()).chat("Why?", { clientTools });
  await held.reached;
  await crash(family.stub());
  return { id, family, again, client: await family.connect() };
}
