/** Facts of chat recovery that need a real object and its eviction: durability.md §2, §3 and §11. */
import {
  crash,
  evict,
  fireAlarm,
  gate,
  hang,
  runInAgent,
  text,
  throwError,
  toolCall,
  userMessage
} from "@cloudflare/think/testing";
import { describe, expect, it, vi } from "vitest";
import { newLab } from "./recovery-support";
import type { RecoveryAgent } from "./worker/recovery-agents";

const RECOVERING = "cf_agent_chat_recovering";
const AT_REST = { keys: [], schedules: [], alarm: null };

type Lab = ReturnType<typeof newLab>;

/** A WebSocket turn that has said "Half" and whose isolate is gone. */
async function interrupted(lab: Lab): Promise<string> {
  const client = await lab.connect();
  const turn = client.chat("Hi");
  await turn.waitForText("Half");
  await crash(lab.stub());
  return turn.id;
}

/** Some milliseconds, as the object counts them. */
const timePasses = (since = Date.now()) => vi.waitFor(() => expect(Date.now()).toBeGreaterThan(since + 1));

/** A tool that never comes back. */
const endless = () => new Promise<void>(() => undefined);

const inTheBackground = (lab: Lab, work: (agent: RecoveryAgent) => Promise<unknown>) =>
  void runInAgent(lab.stub(), work).catch(() => undefined);

describe("§3.1 every door", () => {
  const doors: Record<string, (lab: Lab) => Promise<void> | void> = {
    "a WebSocket request": async (lab) => void (await lab.connect()).chat("Hi"),
    "chat()": (lab) => inTheBackground(lab, (agent) => agent.recordChat("Hi")),
    "saveMessages()": (lab) => inTheBackground(lab, (agent) => agent.saveMessages([userMessage("Hi")])),
    "continueLastTurn()": async (lab) => {
      const begun = {
        id: "a1",
        role: "assistant" as const,
        parts: [{ type: "text" as const, text: "Well" }]
      };
      await lab.stub().addMessages([userMessage("Hi"), begun]);
      inTheBackground(lab, (agent) => agent.carryOn());
    }
  };

  it.each(Object.entries(doors))("leads to a turn that is carried on: %s", async (_name, open) => {
    const begun = gate();
    const lab = newLab([[text("Half"), begun, hang()], "way"]);
    await open(lab);
    await begun.reached;
    await crash(lab.stub());
    await lab.stub().getMessages();
    await lab.event("completed");
    expect((await lab.texts()).slice(-2)).toEqual([
      ["assistant", "step-start|Half"],
      ["assistant", "step-start|way"]
    ]);
    await vi.waitFor(async () => expect(await lab.rest()).toEqual(AT_REST));
  });

  it("leads to a turn that is carried on: the continuation after a client tool", async () => {
    const begun = gate();
    const lab = newLab([[toolCall("ask_user", {})], [text("Half"), begun, hang()], "way"]);
    const client = await lab.connect();
    await client.chat("Hi", { clientTools: [{ name: "ask_user" }] }).done;
    client.toolResult({ toolCallId: "call-1", toolName: "ask_user", output: "yes" });
    await begun.reached;
    await crash(lab.stub());
    await lab.stub().getMessages();
    await lab.event("completed");
    expect(lab.lab.recoveries).toMatchObject([{ recoveryKind: "continue", partialText: "Half" }]);
    expect((await lab.texts()).at(-1)).toEqual(["assistant", "step-start|way"]);
  });

  it("and the recovered turn itself is recovered, under the same root", async () => {
    const [second, third] = [gate(), gate()];
    const lab = newLab([
      [text("Half"), hang()],
      [text("wa"), second, hang()],
      [text("y"), third]
    ]);
    const root = await interrupted(lab);
    await lab.stub().getMessages();
    await second.reached;
    await crash(lab.stub());
    await lab.stub().getMessages();
    await third.reached;
    third.open();
    await lab.event("completed");
    expect(lab.lab.recoveries.map(({ recoveryRootRequestId }) => recoveryRootRequestId)).toEqual([
      root,
      root
    ]);
    expect(new Set(lab.lab.recoveries.map(({ incidentId }) => incidentId)).size).toBe(1);
  });
});

describe("One schedule at rest: none", () => {
  it("a healthy turn leaves no row, no key and no alarm, watched or not", async () => {
    const lab = newLab(["fine", "fine"]);
    const client = await lab.connect();
    await client.chat("Hi").done;
    await client.close();
    await runInAgent(lab.stub(), (agent) => agent.saveMessages([userMessage("Again")]));
    await vi.waitFor(async () => expect(await lab.rest()).toEqual(AT_REST));
  });

  it("nor does a turn that was given up, beyond the record of why", async () => {
    const lab = newLab([[text("Half"), hang()]], {
      chatRecovery: { noProgressTimeoutMs: 0, maxAttempts: 1 }
    });
    await interrupted(lab);
    lab.lab.decide = () => {
      throw new Error("not now");
    };
    await lab.stub().getMessages();
    await timePasses();
    await crash(lab.stub());
    await lab.stub().getMessages();
    await lab.event("exhausted");
    const { keys, schedules } = await lab.rest();
    expect(keys).toEqual([expect.stringContaining("incident")]);
    // The failed detection is repeated once more and finds nothing to do.
    expect(schedules).toEqual(["_chatRecoveryDetect"]);
  });

  it("§11.5 a plan whose alarm was lost in a crash gets it back at the next wake", async () => {
    const lab = newLab(["Hello"]);
    await lab.stub().addMessages([{ ...userMessage("Hi"), id: "u1" }]);
    await runInAgent(lab.stub(), async (agent, { storage }) => {
      const payload = { incidentId: "root:u1", originalRequestId: "root", targetUserId: "u1" };
      await agent.schedule(0, "_chatRecoveryRetry", payload);
      await storage.deleteAlarm();
      storage.kv.put("cf:chat:recovering", { requestId: "root", at: Date.now() });
    });
    await evict(lab.stub());
    await lab.stub().getMessages();
    await lab.event("completed");
    expect((await lab.texts()).at(-1)).toEqual(["assistant", "step-start|Hello"]);
    await vi.waitFor(async () => expect(await lab.rest()).toEqual(AT_REST));
  });
});

it("§2.1 a setting that onStart() makes comes too late, and the base class tells the author so", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const tooLate = () => warn.mock.calls.filter(([said]) => String(said).includes("chatRecovery"));
  const lab = newLab([], { chatRecovery: false, atStart: (agent) => void (agent.lab.chatRecovery = true) });
  await lab.stub().getMessages();
  expect(tooLate()).toHaveLength(1);
  const fine = newLab([], { chatRecovery: { maxAttempts: 3 }, atStart: () => undefined });
  await fine.stub().getMessages();
  expect(tooLate()).toHaveLength(1);
  warn.mockRestore();
});

describe("§3.3 the snapshot", () => {
  it("of a row that cannot be read is as good as none: the turn is recovered with what is known", async () => {
    const lab = newLab([[text("Half"), hang()], "way"]);
    await (await lab.connect()).chat("Hi", { body: { mode: "lost" } }).waitForText("Half");
    await runInAgent(lab.stub(), (_agent, { storage }) =>
      storage.sql.exec("UPDATE cf_ai_chat_stream_metadata SET turn = '{\"version\":7}', stash = 'not json'")
    );
    await crash(lab.stub());
    await lab.stub().getMessages();
    await lab.event("completed");
    expect(lab.lab.recoveries).toMatchObject([{ recoveryData: null, partialText: "Half" }]);
    expect(lab.lab.recoveries[0]).not.toHaveProperty("lastBody");
  });

  it("keeps the last thing that was stashed; outside of turns and fibers stash() throws", async () => {
    const lab = newLab([[text("Half"), hang()], "way"], {
      beforeTurn: (agent) => {
        agent.stash({ first: true });
        agent.stash({ second: true });
      }
    });
    await interrupted(lab);
    await lab.stub().getMessages();
    await lab.event("completed");
    expect(lab.lab.recoveries[0]?.recoveryData).toEqual({ second: true });
    await runInAgent(lab.stub(), (agent) => expect(() => agent.stash(1)).toThrow(/fiber/iu));
  });
});

describe("§3.5, §3.17, turns §12 the incident", () => {
  it("is stored under its name with its fields while it lives, and its events carry them", async () => {
    const held = gate();
    const lab = newLab([
      [text("Half"), hang()],
      [held, text("way")]
    ]);
    const root = await interrupted(lab);
    await lab.stub().getMessages();
    await held.reached;
    const questionId = await runInAgent(lab.stub(), (agent) => agent.messages[0]?.id);
    const incidentId = `${root}:${questionId}`;
    const key = `cf:chat-recovery:incident:${encodeURIComponent(incidentId)}`;
    const [stored, flag] = await runInAgent(lab.stub(), (_agent, { storage }) => [
      storage.kv.get(key),
      storage.kv.get("cf:chat:recovering")
    ]);
    const facts = { incidentId, requestId: root, attempt: 1, maxAttempts: 10, recoveryKind: "continue" };
    expect(stored).toMatchObject({ ...facts, recoveryRootRequestId: root, status: "scheduled" });
    expect(flag).toMatchObject({ requestId: root });
    held.open();
    await lab.event("completed");
    for (const type of ["detected", "attempt", "scheduled", "completed"])
      expect(lab.lab.events.find((event) => event.type === `chat:recovery:${type}`)?.payload).toEqual(facts);
  });

  it("that nobody touched for an hour is swept by the next one", async () => {
    const lab = newLab([[text("Half"), hang()], "way"]);
    await lab.stub().getMessages();
    const old = { incidentId: "old", requestId: "old", recoveryKind: "retry", attempt: 1, maxAttempts: 1 };
    const hourAgo = Date.now() - 3_600_001;
    await runInAgent(lab.stub(), (_agent, { storage }) =>
      storage.kv.put("cf:chat-recovery:incident:old", {
        ...old,
        ...{ status: "skipped", firstSeenAt: hourAgo, lastAttemptAt: hourAgo }
      })
    );
    await interrupted(lab);
    await lab.stub().getMessages();
    await lab.event("completed");
    await vi.waitFor(async () => expect((await lab.rest()).keys).toEqual([]));
  });

  it("of an attempt that fails in its turn is failed, with the error, and the flag is gone (§3.8)", async () => {
    const lab = newLab([[text("Half"), hang()], throwError("boom")]);
    await interrupted(lab);
    const client = await lab.connect();
    await lab.event("failed");
    const failed = lab.lab.events.find(({ type }) => type === "chat:recovery:failed");
    expect(failed?.payload).toMatchObject({ reason: "boom", attempt: 1 });
    await client.waitFor({ type: RECOVERING, recovering: false });
  });
});

describe("§3.6, §3.7 what is asked and kept", () => {
  it("shouldKeepRecovering is asked from the second time on; its no gives the turn up, its throw does not", async () => {
    const asked: unknown[] = [];
    const lab = newLab([[text("Half"), hang()], [text("wa"), hang()], "never"]);
    lab.lab.chatRecovery = {
      shouldKeepRecovering: (context) => {
        asked.push(context);
        return false;
      },
      onExhausted: (context) => void lab.lab.exhausted.push(context)
    };
    const root = await interrupted(lab);
    await lab.stub().getMessages();
    await vi.waitFor(() => expect(lab.model.calls).toHaveLength(2));
    await crash(lab.stub());
    await lab.stub().getMessages();
    await lab.event("exhausted");
    expect(asked).toMatchObject([{ recoveryRootRequestId: root, attempt: 1, recoveryKind: "continue" }]);
    expect(lab.lab.exhausted).toMatchObject([{ reason: "recovery_aborted" }]);
    // The hook is not consulted about a turn that is given up, and what was said is kept.
    expect(lab.lab.recoveries).toHaveLength(1);
    expect((await lab.texts()).at(-1)).toEqual(["assistant", "step-start|wa"]);
    const unsure = newLab([[text("Half"), hang()], [text("wa"), hang()], "y"], {
      chatRecovery: {
        shouldKeepRecovering: () => {
          throw new Error("unsure");
        }
      }
    });
    await interrupted(unsure);
    await unsure.stub().getMessages();
    await vi.waitFor(() => expect(unsure.model.calls).toHaveLength(2));
    await crash(unsure.stub());
    await unsure.stub().getMessages();
    await unsure.event("completed");
  });

  it("the author sees a copy of the conversation, when the turn began, and no partial answer in it", async () => {
    const before = Date.now();
    const lab = newLab([[text("Half"), hang()], "way"]);
    await interrupted(lab);
    await lab.stub().getMessages();
    await lab.event("completed");
    const [seen] = lab.lab.recoveries;
    expect(seen?.messages.map(({ role }) => role)).toEqual(["user"]);
    expect(seen?.partialParts.at(-1)).toMatchObject({ type: "text", text: "Half" });
    expect(seen?.createdAt).toBeGreaterThanOrEqual(before);
    expect(seen?.streamId).not.toBe("");
  });

  it("a stored chunk that cannot be read is left out", async () => {
    const second = gate();
    const lab = newLab([[toolCall("add", { a: 1, b: 2 })], [second, hang()], "Three"]);
    (await lab.connect()).chat("1 + 2?");
    await second.reached;
    await runInAgent(lab.stub(), (_agent, { storage }) =>
      storage.sql.exec(
        "INSERT INTO cf_ai_chat_stream_chunks SELECT 50, id, '{broken', 0 FROM cf_ai_chat_stream_metadata"
      )
    );
    await crash(lab.stub());
    await lab.stub().getMessages();
    await lab.event("completed");
    expect(lab.lab.added).toEqual([1]);
  });
});

it("trap 10: a turn that had ended when its isolate died is left as it is: no model call, no plan, the text once", async () => {
  const lab = newLab(["fine"]);
  await (await lab.connect()).chat("Hi").done;
  await crash(lab.stub());
  await lab.stub().getMessages();
  await evict(lab.stub());
  expect(await lab.texts()).toEqual([
    ["user", "Hi"],
    ["assistant", "step-start|fine"]
  ]);
  expect(lab.types()).toEqual([]);
  expect(lab.model.calls).toHaveLength(1);
});

describe("§3.13, turns §1.3 the recovering frame", () => {
  it("is sent on transitions only: a second interruption of the same turn is silent", async () => {
    const [second, third] = [gate(), gate()];
    const lab = newLab([
      [text("a"), hang()],
      [text("b"), second, hang()],
      [third, text("c")]
    ]);
    lab.lab.stallMs = 300;
    const client = await lab.connect();
    client.chat("Hi");
    await third.reached;
    third.open();
    await lab.event("completed");
    await client.waitFor({ type: RECOVERING, recovering: false });
    const told = client.frames.filter(({ type }) => type === RECOVERING).map(({ recovering }) => recovering);
    expect(told).toEqual([true, false]);
  });

  it("is not sent for a flag of more than 15 minutes", async () => {
    const lab = newLab([]);
    await runInAgent(lab.stub(), (_agent, { storage }) =>
      storage.kv.put("cf:chat:recovering", { requestId: "r", at: Date.now() - 900_001 })
    );
    await evict(lab.stub());
    const client = await lab.connect();
    await client.waitFor("cf_agent_identity");
    expect(client.frames.some(({ type }) => type === RECOVERING)).toBe(false);
  });
});

describe("§3.14 a call that was interrupted", () => {
  it("while its tool ran becomes an error that the model sees; the tool is not run again by itself", async () => {
    const lab = newLab([[toolCall("add", { a: 1, b: 2 })], "I see."], {
      work: endless
    });
    (await lab.connect()).chat("1 + 2?");
    await vi.waitFor(() => expect(lab.lab.added).toEqual([1]));
    await crash(lab.stub());
    await lab.stub().getMessages();
    await lab.event("completed");
    expect(lab.lab.added).toEqual([1]);
    const prompt = JSON.stringify(lab.model.calls[1]?.prompt);
    expect(prompt).toContain('"type":"error-text"');
    expect(lab.lab.events.map(({ type }) => type)).toContain("chat:transcript:repaired");
  });
});

describe("§3.9 who is being asked", () => {
  it("trap 7: an open call of a server tool is nobody's question: the turn is recovered, or sealed", async () => {
    const lab = newLab([[toolCall("add", { a: 1, b: 2 })], "never"], {
      chatRecovery: { noProgressTimeoutMs: 0 },
      work: endless,
      decide: () => {
        throw new Error("not now");
      }
    });
    (await lab.connect()).chat("1 + 2?");
    await vi.waitFor(() => expect(lab.lab.added).toEqual([1]));
    await crash(lab.stub());
    await lab.stub().getMessages();
    await lab.event("failed");
    await timePasses();
    await crash(lab.stub());
    await lab.stub().getMessages();
    await lab.event("exhausted");
  });

  it.each(["crashed", "was stopped", "was stopped after the answer"])(
    "an answer beside the call of a server tool that %s lets the model go on: that call is settled as interrupted, not run again",
    async (how) => {
      const calls = [
        toolCall("erase", {}, { id: "erase-1" }),
        toolCall("add", { a: 1, b: 2 }, { id: "add-1" })
      ];
      const lab = newLab([calls, "It is gone."], { work: endless });
      const first = await lab.connect();
      const turn = first.chat("Erase it and add");
      await vi.waitFor(() => expect(lab.lab.added).toEqual([1]));
      await first.waitFor((frame) => JSON.stringify(frame).includes("tool-approval-request"));
      if (how === "was stopped after the answer") first.toolApproval("erase-1", true);
      if (how === "crashed") {
        await crash(lab.stub());
        await lab.stub().getMessages();
        await lab.event("skipped");
      } else {
        turn.cancel();
        await turn.done;
      }
      if (how !== "was stopped after the answer") (await lab.connect()).toolApproval("erase-1", true);
      await vi.waitFor(async () =>
        expect((await lab.texts()).at(-1)).toEqual(["assistant", expect.stringContaining("It is gone.")])
      );
      const prompt = JSON.stringify(lab.model.calls[1]?.prompt);
      expect(prompt).toContain("interrupted before a result was recorded");
      expect(prompt).toContain("erased");
      expect(lab.lab.added).toEqual([1]);
    }
  );

  it("an approval that is awaited parks the turn like a client tool does", async () => {
    const asked = gate();
    const lab = newLab([[toolCall("erase", {}), asked, hang()], "It is gone."]);
    (await lab.connect()).chat("Erase it");
    await asked.reached;
    await crash(lab.stub());
    await lab.stub().getMessages();
    await lab.event("skipped");
    expect(lab.lab.events.at(-1)?.payload).toMatchObject({ reason: "awaiting_client_interaction" });
    expect(lab.model.calls).toHaveLength(1);
    expect(await lab.rest()).toMatchObject({ schedules: [], alarm: null });
  });
});

it("§3.1 the alarm alone carries a turn on whose last visitor left in the middle", async () => {
  const begun = gate();
  const lab = newLab([[text("Half"), begun, hang()], "way"]);
  const client = await lab.connect();
  client.chat("Hi");
  await begun.reached;
  await client.close();
  await vi.waitFor(async () =>
    expect(await runInAgent(lab.stub(), (_agent, { storage }) => storage.getAlarm())).not.toBeNull()
  );
  await crash(lab.stub());
  await fireAlarm(lab.stub());
  await lab.event("completed");
});
