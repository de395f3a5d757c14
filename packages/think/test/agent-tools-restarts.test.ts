/** Agent-tool runs whose child, or parent, or both are restarted: tools.md §7.5, §7.6 and §9 row 14, issue 7. */
import {
  crash,
  evict,
  gate,
  hang,
  runInAgent,
  scriptedModel,
  streamError,
  text,
  toolCall
} from "@cloudflare/think/testing";
import { describe, expect, it, vi } from "vitest";
import {
  answered,
  callId,
  crashedFamily,
  endsOf,
  finishesOf,
  newFamily,
  patient,
  promptOf,
  runFrames
} from "./agent-tools-support";
import { openChild } from "./worker/agent-tools-agents";

const research = (id: string) => toolCall("research", { query: "sky" }, { id });

describe("a restart of the child alone", () => {
  it("§9 row 14: is a delayed completion for the parent that waits: row, tool result, hook and frames", async () => {
    const id = callId();
    const held = gate();
    const { connect, rows, stub, model } = newFamily([[research(id)], "Done."], {
      [id]: [[text("Half"), held, hang()], "way"]
    });
    const client = await connect();
    const turn = client.chat("Why?");
    await held.reached;
    await runInAgent(stub(), (agent) => agent.crashChild(`agent-tool:${id}`));
    expect((await turn.done).text).toBe("Done.");
    expect(await rows()).toMatchObject([{ status: "completed", summary: "Half\nway", error_message: null }]);
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain("Half\\nway");
    expect(await runInAgent(stub(), (agent) => agent.finished)).toMatchObject([{ status: "completed" }]);
    const frames = runFrames(client);
    expect(frames.map(({ sequence }) => sequence)).toEqual(frames.map((_, index) => index));
    expect(endsOf(client)).toEqual(["finished"]);
  });

  it("§7.5: with recovery off is an error that says so, not a wait without end", async () => {
    const id = callId();
    const held = gate();
    const { connect, rows, stub } = newFamily([[research(id)], "Done."], {
      [id]: { script: [[text("Half"), held, hang()]], chatRecovery: false }
    });
    const turn = (await connect()).chat("Why?");
    await held.reached;
    await runInAgent(stub(), (agent) => agent.crashChild(`agent-tool:${id}`));
    expect((await turn.done).text).toBe("Done.");
    const error_message = expect.stringContaining("interrupted before the child could finish");
    expect(await rows()).toMatchObject([{ status: "error", error_message }]);
  });

  it("§7.5: does not keep the browser's stop from reaching the child", async () => {
    const id = callId();
    const [held, again] = [gate(), gate()];
    const { connect, rows, stub, children } = newFamily([[research(id)], "never"], {
      [id]: [
        [text("Half"), held, hang()],
        [text("way"), again, hang()]
      ]
    });
    const turn = (await connect()).chat("Why?");
    await held.reached;
    await runInAgent(stub(), (agent) => agent.crashChild(`agent-tool:${id}`));
    await again.reached;
    turn.cancel();
    await turn.done;
    await vi.waitFor(async () => expect(await rows()).toMatchObject([{ status: "aborted" }]), patient);
    await vi.waitFor(() => expect(children.get(id)?.calls[1]?.status).toBe("aborted"), patient);
  });
});

describe("a restart of parent and child", () => {
  it("§7.6: is a delayed completion: the recovered turn goes on with the child's answer, and the run ends once", async () => {
    const { id, family, again, client } = await crashedFamily((again) => [again, text("way")]);
    await again.reached;
    again.open();
    await answered(client);
    const prompt = promptOf(family);
    expect(prompt).toContain("Half\\nway");
    expect(prompt).not.toContain("interrupted");
    expect(family.model.calls).toHaveLength(2);
    // The crash of a parent takes its children along: it was the second life that answered.
    expect(family.children.get(id)?.calls).toHaveLength(2);
    expect(await family.rows()).toMatchObject([
      { run_id: `agent-tool:${id}`, status: "completed", summary: "Half\nway" }
    ]);
    await vi.waitFor(
      async () => expect(await finishesOf(family)).toMatchObject([{ status: "completed" }]),
      patient
    );
    expect(endsOf(client)).toEqual(["finished"]);
    const messages = await runInAgent(family.stub(), (agent) => agent.getMessages());
    expect(messages.flatMap(({ parts }) => parts)).toContainEqual(
      expect.objectContaining({ toolCallId: id, state: "output-available", output: "Half\nway" })
    );
  });

  it("§7.6: gives the structured output that the tool's schema asks for", async () => {
    const { family, again, client } = await crashedFamily((again) => [again, text("way")], {
      calls: (id) => [toolCall("measure", { query: "sky" }, { id })],
      child: { output: () => ({ value: 7 }) }
    });
    again.open();
    await answered(client);
    expect(promptOf(family)).toContain('"value":7');
  });

  it("§7.6: tells the model how the child failed", async () => {
    const { family, again, client } = await crashedFamily((again) => [again, streamError("provider down")]);
    again.open();
    await answered(client);
    expect(promptOf(family)).toContain("provider down");
    expect(await family.rows()).toMatchObject([{ status: "error", error_message: "provider down" }]);
    expect(endsOf(client)).toEqual(["error"]);
  });

  it("§7.6: lets a stop reach the child while the recovered turn waits for it", async () => {
    const { family, again, client } = await crashedFamily((again) => [again, text("never")]);
    await again.reached;
    const recovered = await client.resume();
    expect(recovered).toBeDefined();
    recovered?.cancel();
    await vi.waitFor(async () => expect(await family.rows()).toMatchObject([{ status: "aborted" }]), patient);
    expect(family.model.calls).toHaveLength(1);
  });

  it("§7.6: of both, again, while the recovered turn waits, is one more delay", async () => {
    const { id, family, again } = await crashedFamily((again) => [again, hang()]);
    await again.reached;
    await crash(family.stub());
    const client = await family.connect();
    await answered(client);
    expect(family.model.calls).toHaveLength(2);
    expect(promptOf(family)).not.toContain("interrupted");
    expect(await family.rows()).toMatchObject([{ run_id: `agent-tool:${id}`, status: "completed" }]);
    await vi.waitFor(async () => expect(await finishesOf(family)).toHaveLength(1), patient);
  });
});

describe("an eviction of the parent", () => {
  it("§7.6: waits for the run that the parent follows, and interrupts nobody", async () => {
    const id = callId();
    const held = gate();
    const { connect, stub, rows, model, children } = newFamily([[research(id)], "Done."], {
      [id]: [[text("Half"), held, text(" more")]]
    });
    const turn = (await connect()).chat("Why?");
    await held.reached;
    const order: string[] = [];
    const evicted = evict(stub()).then(() => order.push("evicted"));
    held.open();
    expect((await turn.done.finally(() => order.push("done"))).text).toBe("Done.");
    await evicted;
    expect(order).toEqual(["done", "evicted"]);
    expect([model.calls.length, children.get(id)?.calls.length]).toEqual([2, 1]);
    expect(await rows()).toMatchObject([{ status: "completed" }]);
  });
});

/** A crash takes children along, and an eviction waits for the call; so this is staged: a run that an earlier life began, whose child never stopped. */
describe("a restart of the parent alone", () => {
  it("§7.6: shows what was said and what is said, each in its place, and whoever asks for the run again gets its one end", async () => {
    const runId = `agent-tool:${callId()}`;
    const held = gate();
    const family = newFamily([], {});
    openChild(runId, { model: scriptedModel([[text(["It ", "is "]), held, text("blue.")]]) });
    await runInAgent(family.stub(), (agent) => agent.forgetRun(runId));
    await held.reached;
    const client = await family.connect();
    await client.waitFor((frame) => JSON.stringify(frame).includes("is "));
    const asked = runInAgent(family.stub(), (agent) => agent.rejoin(runId));
    held.open();
    expect(await asked).toMatchObject({ runId, status: "completed", summary: "It is \nblue." });
    expect(endsOf(client)).toEqual(["finished"]);
    // The base class may show a chunk again under its place, which clients drop; a place never names another one.
    const places = new Map(runFrames(client).map(({ sequence, event }) => [sequence, event.body]));
    for (const { sequence, event } of runFrames(client)) expect(event.body).toBe(places.get(sequence));
    expect([...places.keys()]).toEqual([...places.keys()].map((_, index) => index));
    await vi.waitFor(async () => expect(await finishesOf(family)).toHaveLength(1), patient);
  });
});
