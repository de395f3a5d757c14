/** A recovered turn that waits for the agents it gave work to, and what may happen meanwhile: tools.md §7.6, issues 6 and 7. */
import { crash, gate, hang, runInAgent, text, toolCall, type ScriptStep } from "@cloudflare/think/testing";
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
import { heldTimers } from "./time-support";

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
    expect(await client.history()).toEqual([]);
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
  const givenUp = async () => {
    const crashed = await crashedFamily((held) => [held, text("way")], { parent: { giveUpMs: 300 } });
    await crashed.again.reached;
    await statusOf(crashed.family, "interrupted");
    return crashed;
  };

  it("is waited for as long as it works, and its answer is the answer", async () => {
    const { family, again, client } = await givenUp();
    again.open();
    await answered(client);
    expect(promptOf(family)).toContain("Half\\nway");
    expect(family.model.calls).toHaveLength(2);
    await statusOf(family, "completed");
    await vi.waitFor(async () => expect(await finishesOf(family)).toHaveLength(2), patient);
    expect((await finishesOf(family)).map(({ status }) => status)).toEqual(["interrupted", "completed"]);
  });

  it("is stopped with the turn that waits for it", async () => {
    const { id, family, client } = await givenUp();
    (await client.resume())?.cancel();
    await statusOf(family, "aborted");
    await vi.waitFor(() => expect(family.children.get(id)?.calls[1]?.status).toBe("aborted"), patient);
  });

  it("is not begun anew when it is cleared while it is asked how it stands", async () => {
    const { id, family, again } = await givenUp();
    await runInAgent(family.stub(), async (agent) => {
      const { asked, answer } = agent.holdChildren();
      await asked;
      await agent.clearRuns();
      answer();
    });
    await asked(family);
    expect(await family.rows()).toEqual([]);
    expect(family.children.get(id)?.calls).toHaveLength(2);
    again.open();
  });

  it("is stopped also after a question to it has failed", async () => {
    const { id, family, client } = await givenUp();
    await runInAgent(family.stub(), (agent) => agent.loseChildOnce());
    (await client.resume())?.cancel();
    await vi.waitFor(() => expect(family.children.get(id)?.calls[1]?.status).toBe("aborted"), patient);
  });

  it("because it waits for a child of its own, is waited for too", async () => {
    const [middle, inner] = [callId(), callId()];
    const [held, again] = [gate(), gate()];
    const scripts = {
      [middle]: { script: [[research(inner)], "Middle says."], delegates: true },
      [inner]: [
        [text("Half"), held, hang()],
        [again, text("way")]
      ]
    };
    const family = newFamily([[research(middle)], "Done."], scripts, { giveUpMs: 300 });
    (await family.connect()).chat("Why?");
    await held.reached;
    await crash(family.stub());
    const client = await family.connect();
    await again.reached;
    await statusOf(family, "interrupted");
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

describe("a turn that ends while its child works", () => {
  /** A turn that is asked to stop while an agent works for it and somebody is asked. */
  const stopped = async (tool: string) => {
    const [id, question, held] = [callId(), callId(), gate()];
    const family = newFamily(
      [[toolCall(tool, { query: "sky" }, { id }), toolCall("ask", {}, { id: question })], "Done."],
      { [id]: [[text("Half"), held, hang()], "way"] }
    );
    const client = await family.connect();
    const clientTools = [{ name: "ask" }];
    const turn = client.chat("Why?", { clientTools });
    await held.reached;
    const answer = () =>
      client.toolResult({
        ...{ toolCallId: question, toolName: "ask", output: "yes", autoContinue: true, clientTools }
      });
    return { id, family, client, turn, answer };
  };

  it.each(["research", "later"])(
    "by a stop does not keep an answer given before, right behind or after it from letting the model go on (%s)",
    async (tool) => {
      const before = await stopped(tool);
      before.answer();
      await before.client.waitFor((frame) => frame.type === "cf_agent_message_updated");
      before.turn.cancel();
      const behind = await stopped(tool);
      behind.turn.cancel();
      behind.answer();
      const after = await stopped(tool);
      after.turn.cancel();
      await after.turn.done;
      await statusOf(after.family, "aborted");
      after.answer();
      for (const { family, client } of [before, behind, after]) {
        await answered(client);
        expect(promptOf(family)).toContain("yes");
      }
    }
  );

  it("by a stall stops it once, and the continuation is told that it was interrupted", async () => {
    const stallMs = 3_599_000;
    using watchdog = heldTimers(stallMs);
    const [id, held] = [callId(), gate()];
    const family = newFamily(
      [[research(id)], "Done."],
      { [id]: [[text("Half"), held, hang()]] },
      { stallMs }
    );
    const client = await family.connect();
    client.chat("Why?");
    await held.reached;
    await runInAgent(family.stub(), () => watchdog.fire());
    await answered(client);
    expect(promptOf(family)).toContain("interrupted");
    await vi.waitFor(
      async () => expect(await finishesOf(family)).toMatchObject([{ status: "aborted" }]),
      patient
    );
    expect(endsOf(client)).toEqual(["aborted"]);
  });
});

describe("a call id that an earlier run had", () => {
  const family = (second: ScriptStep, parent: Parameters<typeof newFamily>[2] = {}) => {
    const id = "call-again";
    return newFamily([[research(id)], "One.", second, "Done."], { [id]: ["Blue."] }, parent);
  };

  it("does not keep a client from answering a call of its own", async () => {
    const { connect, model } = family([toolCall("ask", {}, { id: "call-again" })]);
    const client = await connect();
    const clientTools = [{ name: "ask" }];
    await client.chat("Why?", { clientTools }).done;
    await client.chat("Again?", { clientTools }).done;
    client.toolResult({
      ...{ toolCallId: "call-again", toolName: "ask", output: "yes", autoContinue: true, clientTools }
    });
    await answered(client);
    expect(JSON.stringify(model.calls[3]?.prompt)).toContain("yes");
  });

  it("does not make a server tool run again after a crash", async () => {
    const begun = gate();
    let works = 0;
    const work = () => {
      works += 1;
      begun.open();
      return new Promise(() => {});
    };
    const lab = family([toolCall("work", {}, { id: "call-again" })], { work });
    const first = await lab.connect();
    await first.chat("Why?").done;
    first.chat("Again?");
    await vi.waitFor(() => expect(works).toBe(1), patient);
    await crash(lab.stub());
    await answered(await lab.connect());
    expect(works).toBe(1);
  });
});
