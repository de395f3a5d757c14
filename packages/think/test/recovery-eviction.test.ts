/** Turns that an eviction or a crash interrupts: durability.md §3, §11 and its traps. */
import {
  crash,
  evict,
  fireAlarm,
  gate,
  hang,
  runInAgent,
  text,
  toolCall,
  userMessage
} from "@cloudflare/think/testing";
import { describe, expect, it, vi } from "vitest";
import { newLab } from "./recovery-support";

const RECOVERING = "cf_agent_chat_recovering";

describe("a turn whose isolate died", () => {
  it("§3.7, trap 19: keeps what was said, is carried on by itself and leaves nothing behind", async () => {
    const { connect, stub, event, texts, rest, lab, types, model } = newLab([[text("Half"), hang()], "way"]);
    const client = await connect();
    await client.chat("Hi").waitForText("Half");
    await crash(stub());
    await stub().getMessages();
    await event("completed");
    expect(await texts()).toEqual([
      ["user", "Hi"],
      ["assistant", "step-start|Half"],
      ["assistant", "step-start|way"]
    ]);
    expect(types()).toEqual(
      ["detected", "attempt", "scheduled", "completed"].map((type) => `chat:recovery:${type}`)
    );
    expect(lab.recoveries).toMatchObject([
      { attempt: 1, recoveryKind: "continue", partialText: "Half", recoveryData: null }
    ]);
    expect(model.calls[1]?.prompt.at(-1)?.role).toBe("user");
    await vi.waitFor(async () => expect(await rest()).toEqual({ keys: [], schedules: [], alarm: null }));
  });

  it("§11.1: while it waited for the first word is asked again, without a second question (trap 11)", async () => {
    const begun = gate();
    const { connect, stub, event, texts, lab } = newLab([[begun, hang()], "Hello"]);
    const client = await connect();
    client.chat("Hi", { body: { mode: "first" } });
    await begun.reached;
    await crash(stub());
    await stub().getMessages();
    await event("completed");
    expect(lab.recoveries[0]).toMatchObject({ recoveryKind: "retry", lastBody: { mode: "first" } });
    expect(await texts()).toEqual([
      ["user", "Hi"],
      ["assistant", "step-start|Hello"]
    ]);
  });

  it("§3.1: is noticed by its alarm alone when nobody was connected, however short it was", async () => {
    const begun = gate();
    const { stub, event, texts } = newLab([[begun, hang()], "Hello"]);
    void runInAgent(stub(), (agent) => agent.saveMessages([userMessage("Hi")])).catch(() => undefined);
    await begun.reached;
    const alarm = await runInAgent(stub(), (_agent, { storage }) => storage.getAlarm());
    expect(alarm).not.toBeNull();
    await crash(stub());
    await fireAlarm(stub());
    await event("completed");
    expect((await texts()).at(-1)).toEqual(["assistant", "step-start|Hello"]);
  });

  it("§3.4: never runs a settled tool again and never loses its result", async () => {
    const second = gate();
    const { connect, stub, event, lab, model } = newLab([
      [toolCall("add", { a: 1, b: 2 })],
      [second, hang()],
      "Three"
    ]);
    const client = await connect();
    client.chat("1 + 2?");
    await second.reached;
    await crash(stub());
    await stub().getMessages();
    await event("completed");
    expect(lab.added).toEqual([1]);
    expect(JSON.stringify(model.calls[2]?.prompt)).toContain('"sum":3');
  });

  it("§3.13, trap 21, turns §1.3: shows connecting clients that it is being recovered, and always takes that back", async () => {
    const held = gate();
    const { connect, stub, event } = newLab([
      [text("Half"), hang()],
      [held, text("way")]
    ]);
    const asking = await connect();
    const turn = asking.chat("Hi");
    await turn.waitForText("Half");
    await crash(stub());
    const client = await connect();
    const shown = await client.waitFor((frame) => frame.type === RECOVERING);
    expect(shown).toMatchObject({ recovering: true, id: turn.id });
    await held.reached;
    held.open();
    await event("completed");
    await client.waitFor((frame) => frame.type === RECOVERING && frame.recovering === false);
    const late = await connect();
    await late.waitFor((frame) => frame.type === "cf_agent_identity");
    expect(late.frames.some((frame) => frame.type === RECOVERING)).toBe(false);
  });

  it("§3.3: gives the author what the turn stashed", async () => {
    const { connect, stub, event, lab } = newLab([[text("Half"), hang()], "way"], {
      beforeTurn: (agent) => agent.stash({ responseId: "r-1" })
    });
    const client = await connect();
    await client.chat("Hi").waitForText("Half");
    await crash(stub());
    await stub().getMessages();
    await event("completed");
    expect(lab.recoveries[0]?.recoveryData).toEqual({ responseId: "r-1" });
  });

  it("stands beside the old answer when it was a regeneration", async () => {
    const { connect, stub, event, texts } = newLab(["Old", [text("New"), hang()], "er"]);
    const client = await connect();
    await client.chat("Hi").done;
    const [question] = await client.history();
    if (!question) throw new Error("no question");
    await client.chat([question], { trigger: "regenerate-message" }).waitForText("New");
    await crash(stub());
    await stub().getMessages();
    await event("completed");
    expect(await texts()).toEqual([
      ["user", "Hi"],
      ["assistant", "step-start|New"],
      ["assistant", "step-start|er"]
    ]);
  });

  it("§3.1: with recovery off only keeps what was said", async () => {
    const { connect, stub, texts, lab, model } = newLab([[text("Half"), hang()], "never"], {
      chatRecovery: false
    });
    const client = await connect();
    await client.chat("Hi").waitForText("Half");
    await crash(stub());
    await (
      await (await connect()).resume()
    )?.done;
    expect((await texts()).at(-1)).toEqual(["assistant", "step-start|Half"]);
    expect(lab.recoveries).toEqual([]);
    expect(model.calls).toHaveLength(1);
  });
});

describe("the author's decision", () => {
  it("trap 9: neither kept nor continued: nothing is stored, and clients are told", async () => {
    const { connect, stub, event, texts } = newLab([[text("Half"), hang()]], {
      decide: () => ({ persist: false, continue: false })
    });
    const client = await connect();
    await client.chat("Hi").waitForText("Half");
    await crash(stub());
    await stub().getMessages();
    await event("skipped");
    expect(await texts()).toEqual([["user", "Hi"]]);
    const replay = await (await (await connect()).resume())?.done;
    expect(replay?.error).toContain("chat recovery was disabled");
  });

  it("trap 9: a settled result is stored whatever it says", async () => {
    const second = gate();
    const { connect, stub, event, texts } = newLab([[toolCall("add", { a: 1, b: 2 })], [second, hang()]], {
      decide: () => ({ persist: false, continue: false })
    });
    const client = await connect();
    client.chat("1 + 2?");
    await second.reached;
    await crash(stub());
    await stub().getMessages();
    await event("skipped");
    expect((await texts()).at(-1)?.[1]).toContain("tool-add");
  });

  it("trap 8: a hook that throws leaves the incident failed with its text, and the object usable", async () => {
    const { connect, stub, event, lab, rest } = newLab([[text("Half"), hang()], "fine"], {
      decide: () => {
        throw new Error("no idea");
      }
    });
    const client = await connect();
    await client.chat("Hi").waitForText("Half");
    await crash(stub());
    await stub().getMessages();
    await event("failed");
    const failed = lab.events.find(({ type }) => type === "chat:recovery:failed");
    expect(failed?.payload).toMatchObject({ reason: "no idea" });
    expect((await rest()).schedules).toEqual(["_chatRecoveryDetect"]);
    expect((await (await connect()).chat("Again").done).text).toBe("fine");
  });
});

describe("a turn that cannot be recovered", () => {
  it("trap 2, §3.11: is sealed within its budget, with the reason shown, and the object stays usable", async () => {
    const { connect, stub, event, lab } = newLab([[text("Half"), hang()], "fine"], {
      chatRecovery: {
        maxRecoveryWork: 0,
        noProgressTimeoutMs: 0,
        terminalMessage: "It is over.",
        onExhausted: (context) => {
          lab.exhausted.push(context);
          throw new Error("trap 8: must not matter");
        }
      },
      decide: async () => {
        throw new Error("poisoned");
      }
    });
    const client = await connect();
    const turn = client.chat("Hi");
    await turn.waitForText("Half");
    for (let life = 0; life < 2; life += 1) {
      await crash(stub());
      await stub().getMessages();
    }
    await event("exhausted");
    expect(lab.exhausted).toMatchObject([
      { requestId: turn.id, partialText: "Half", terminalMessage: "It is over." }
    ]);
    const replay = await (await (await connect()).resume())?.done;
    expect(replay).toMatchObject({ text: "Half", error: "It is over." });
    expect((await (await connect()).chat("Again").done).text).toBe("fine");
  });
});

describe("a person who is being asked", () => {
  it("§3.9, trap 7, 15: costs no budget and no alarm, and the answer resumes the chat after ten evictions", async () => {
    const asked = gate();
    const { connect, stub, event, rest, lab } = newLab(
      [[toolCall("ask_user", { q: "?" }), asked, hang()], "Thanks"],
      {
        chatRecovery: { noProgressTimeoutMs: 0, maxAttempts: 1 }
      }
    );
    const client = await connect();
    client.chat("Ask me", { clientTools: [{ name: "ask_user", description: "Asks." }] });
    await asked.reached;
    await crash(stub());
    for (let life = 0; life < 10; life += 1) {
      await stub().getMessages();
      await evict(stub());
    }
    await event("skipped");
    expect(lab.events.at(-1)?.payload).toMatchObject({ reason: "awaiting_client_interaction", attempt: 1 });
    expect(await rest()).toMatchObject({ schedules: [], alarm: null });
    const back = await connect();
    back.toolResult({ toolCallId: "call-1", toolName: "ask_user", output: "yes", autoContinue: true });
    await back.waitFor((frame) => frame.done === true && frame.type === "cf_agent_use_chat_response");
    expect((await back.history()).at(-1)?.parts.at(-1)).toMatchObject({ text: "Thanks" });
  });
});
