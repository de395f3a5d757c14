/** Agent-tool runs, the child's side: tools.md §7 and its traps 35 to 38, seed 001 §8 and §9. */
import { env } from "cloudflare:workers";
import {
  gate,
  hang,
  runInAgent,
  scriptedModel,
  streamError,
  text,
  type Script
} from "@cloudflare/think/testing";
import { describe, expect, it, vi } from "vitest";
import { openChild, type ChildLab } from "./worker/agent-tools-agents";

let counter = 0;

/** A child on its own: the methods a parent calls, called by the test. */
function newChild(script: Script, lab: Partial<ChildLab> = {}) {
  const runId = `run-${(counter += 1)}-${crypto.randomUUID()}`;
  const model = scriptedModel(script);
  openChild(runId, { model, ...lab });
  const stub = () => env.ToolChild.getByName(runId);
  const inspect = () => runInAgent(stub(), (agent) => agent.inspectAgentToolRun(runId));
  return {
    runId,
    model,
    stub,
    inspect,
    start: (input: unknown = "Go") =>
      runInAgent(stub(), (agent) => agent.startAgentToolRun(input, { runId })),
    cancel: (reason?: unknown) => runInAgent(stub(), (agent) => agent.cancelAgentToolRun(runId, reason)),
    chunks: (afterSequence?: number) =>
      runInAgent(stub(), (agent) =>
        agent.getAgentToolChunks(runId, afterSequence === undefined ? {} : { afterSequence })
      ),
    tail: (afterSequence?: number) =>
      runInAgent(stub(), async (agent) => {
        const stream = await agent.tailAgentToolRun(
          runId,
          afterSequence === undefined ? {} : { afterSequence }
        );
        const lines = (await new Response(stream).text()).split("\n").filter((line) => line !== "");
        return lines.map((line) => JSON.parse(line) as { sequence: number; body: string });
      }),
    over: () =>
      vi.waitFor(async () => {
        const run = await inspect();
        expect(run?.completedAt).toBeDefined();
        return run;
      })
  };
}

describe("a run", () => {
  it("§7.3: is started at once, ends with the text of its answer, and is started only once", async () => {
    const child = newChild(["It is blue."]);
    expect(await child.start()).toMatchObject({ runId: child.runId, status: "running" });
    const run = await child.over();
    expect(run).toMatchObject({ status: "completed", summary: "It is blue." });
    expect(await child.start("again")).toEqual(run);
    expect(child.model.calls).toHaveLength(1);
  });

  it("seed 001 §9: whose stream fails is an error although nobody follows it", async () => {
    const child = newChild([[text("Half"), streamError("provider down")]]);
    await child.start();
    expect(await child.over()).toMatchObject({ status: "error", error: "provider down" });
  });

  it("trap 35: that is cancelled stays aborted with its reason when the turn unwinds", async () => {
    const held = gate();
    const child = newChild([[text("Half"), held, hang()]]);
    await child.start();
    await held.reached;
    await child.cancel("stop");
    expect(await child.inspect()).toMatchObject({ status: "aborted", error: "stop" });
    await runInAgent(child.stub(), (agent) => vi.waitFor(() => expect(agent.messages).toHaveLength(2)));
    expect(await child.inspect()).toMatchObject({ status: "aborted", error: "stop" });
  });

  it("§7.5: is followed from its first chunk to its last, and read later under the same places", async () => {
    const child = newChild([text(["It ", "is ", "blue."])]);
    await child.start();
    const live = await child.tail();
    expect(live.map(({ sequence }) => sequence)).toEqual(live.map((_, index) => index));
    expect(await child.chunks()).toEqual(live);
    expect(await child.tail(3)).toEqual(live.slice(4));
    expect(await child.chunks(3)).toEqual(live.slice(4));
  });
});
