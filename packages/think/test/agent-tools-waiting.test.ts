/** A recovered turn that waits for the agents it gave work to, and what may happen meanwhile: tools.md §7.6, issues 6 and 7. */
import { crash, delay, gate, hang, runInAgent, text, toolCall } from "@cloudflare/think/testing";
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
  type Family
} from "./agent-tools-support";

const research = (id: string) => toolCall("research", { query: "sky" }, { id });

const asked = ({ model }: Family) => vi.waitFor(() => expect(model.calls).toHaveLength(2), patient);

const statusOf = (family: Family, status: string) =>
  vi.waitFor(async () => expect(await family.rows()).toMatchObject([{ status }]), patient);

describe("while a recovered turn waits for a run", () => {
  it("clearing the runs ends the wait; the work does not begin anew", async () => {
    const { id, family, again } = await crashedFamily((held) => [held, text("way")]);
    await again.reached;
    await runInAgent(family.stub(), (agent) => agent.clearRuns());
    await asked(family);
    expect(promptOf(family)).toContain("cleared");
    expect(family.children.get(id)?.calls).toHaveLength(2);
    expect(await family.rows()).toEqual([]);
  });

  it("clearing the conversation stops the child and stores nothing", async () => {
    const { family, again, client } = await crashedFamily((held) => [held, text("way")]);
    await again.reached;
    client.clear();
    await statusOf(family, "aborted");
    expect(await runInAgent(family.stub(), (agent) => agent.getMessages())).toEqual([]);
    expect(family.model.calls).toHaveLength(1);
  });

  it("a client cannot answer in the agent's place", async () => {
    const { id, family, again, client } = await crashedFamily((held) => [held, text("way")]);
    await again.reached;
    client.toolResult({ toolCallId: id, toolName: "research", output: "forged" });
    // Frames are handled in order: when this one is answered, the other has been.
    await client.resume();
    again.open();
    await answered(client);
    expect(promptOf(family)).toContain("Half\\nway");
    expect(JSON.stringify(client.messages)).not.toContain("forged");
  });
});

describe("a child that the base class has given up", () => {
  it("is waited for as long as it works, and its answer is the answer", async () => {
    const { family, again, client } = await crashedFamily((held) => [held, text("way")], {
      parent: { giveUpMs: 300 }
    });
    await again.reached;
    await statusOf(family, "interrupted");
    again.open();
    await answered(client);
    expect(promptOf(family)).toContain("Half\\nway");
    expect(family.model.calls).toHaveLength(2);
    await statusOf(family, "completed");
    expect(endsOf(client)).toEqual(["interrupted", "finished"]);
  });

  it("is stopped with the turn that waits for it", async () => {
    const { id, family, again, client } = await crashedFamily((held) => [held, text("way")], {
      parent: { giveUpMs: 300 }
    });
    await again.reached;
    await statusOf(family, "interrupted");
    (await client.resume())?.cancel();
    await statusOf(family, "aborted");
    await vi.waitFor(() => expect(family.children.get(id)?.calls[1]?.status).toBe("aborted"), patient);
  });

  it("because it waits for a child of its own, is waited for too", async () => {
    const [middle, inner] = [callId(), callId()];
    const [held, again] = [gate(), gate()];
    const talks = [again, ...Array.from({ length: 6 }, (_, index) => [delay(200), text(`${index}`)]).flat()];
    const scripts = {
      [middle]: { script: [[research(inner)], "Middle says."], delegates: true },
      [inner]: [[text("Half"), held, hang()], talks]
    };
    const family = newFamily([[research(middle)], "Done."], scripts, { giveUpMs: 400 });
    (await family.connect()).chat("Why?");
    await held.reached;
    await crash(family.stub());
    const client = await family.connect();
    again.open();
    await answered(client);
    expect(promptOf(family)).toContain("Middle says.");
    expect(family.children.get(middle)?.calls).toHaveLength(2);
  });
});

describe("calls beside the one that is waited for", () => {
  it("of a server tool that died are settled as interrupted and not run again", async () => {
    let works = 0;
    const work = () => {
      works += 1;
      return new Promise(() => {});
    };
    const { family, again, client } = await crashedFamily((held) => [held, text("way")], {
      calls: (call) => [toolCall("work", {}, { id: `work-${call}` }), research(call)],
      parent: { work }
    });
    again.open();
    await answered(client);
    expect(promptOf(family)).toContain("Half\\nway");
    expect(promptOf(family)).toContain("interrupted");
    expect(works).toBe(1);
  });

  it("of a client's tool may be answered after the crash: then the turn goes on with both answers", async () => {
    const clientTools = [{ name: "ask" }];
    const question = callId();
    const { family, again, client } = await crashedFamily((held) => [held, text("way")], {
      calls: (call) => [research(call), toolCall("ask", {}, { id: question })],
      clientTools
    });
    await again.reached;
    client.toolResult({
      ...{ toolCallId: question, toolName: "ask", output: "yes", autoContinue: true, clientTools }
    });
    again.open();
    await answered(client);
    expect(promptOf(family)).toContain("Half\\nway");
    expect(promptOf(family)).toContain("yes");
  });
});

describe("work is not given away twice", () => {
  it("when its tool exists for one turn only", async () => {
    const { family, again, client } = await crashedFamily((held) => [held, text("way")], {
      calls: (call) => [toolCall("later", { query: "sky" }, { id: call })]
    });
    again.open();
    await answered(client);
    expect(promptOf(family)).toContain("Half\\nway");
    expect(promptOf(family)).not.toContain("interrupted");
  });

  it("when the author does not want to keep the partial answer: the call stays, as settled work does", async () => {
    const { family, again, client } = await crashedFamily((held) => [held, text("way")], {
      parent: { recovery: { persist: false } }
    });
    again.open();
    await answered(client);
    expect(promptOf(family)).toContain("Half\\nway");
  });
});

it("a turn that stalls while its child works stops it once, and its continuation is told that it was interrupted", async () => {
  const id = callId();
  const held = gate();
  const family = newFamily(
    [[research(id)], "Done."],
    { [id]: [[text("Half"), held, hang()]] },
    { stallMs: 1_500 }
  );
  const client = await family.connect();
  client.chat("Why?");
  await held.reached;
  await answered(client);
  expect(promptOf(family)).toContain("interrupted");
  await vi.waitFor(
    async () => expect(await finishesOf(family)).toMatchObject([{ status: "aborted" }]),
    patient
  );
  expect(endsOf(client)).toEqual(["aborted"]);
});
