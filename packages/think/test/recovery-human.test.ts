/**
 * What lasts: a person who answers after a month, and a turn that takes its isolate down each time it runs. Time is the object's own clock, moved
 * by the test. durability.md §3.6, §3.9, §3.11, traps 7 and 15.
 */
import { crash, evict, fireAlarm, gate, hang, toolCall } from "@cloudflare/think/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { newLab } from "./recovery-support";

const DAY = 86_400_000;
const RESPONSE = "cf_agent_use_chat_response";

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

const later = (ms: number) => vi.setSystemTime(Date.now() + ms);

describe("a person who is being asked", () => {
  it("§3.9, traps 7, 15: and answers after 30 days and 10 evictions resumes the turn, and no budget was used", async () => {
    const asked = gate();
    const lab = newLab([[toolCall("ask_user", { q: "?" }), asked, hang()], "Thanks"], {
      chatRecovery: { noProgressTimeoutMs: 0, maxAttempts: 1, maxRecoveryWork: 0 }
    });
    const client = await lab.connect();
    client.chat("Ask me", { clientTools: [{ name: "ask_user", description: "Asks." }] });
    await asked.reached;
    await crash(lab.stub());
    for (let life = 0; life < 10; life += 1) {
      later(3 * DAY);
      const visitor = await lab.connect();
      await visitor.waitFor("cf_agent_chat_messages");
      expect(visitor.frames.some(({ type }) => type === "cf_agent_chat_recovering")).toBe(false);
      await visitor.close();
      await evict(lab.stub());
    }
    // Seen once, parked, and never touched again.
    expect(lab.types()).toEqual(["detected", "attempt", "skipped"].map((type) => `chat:recovery:${type}`));
    const parked = lab.lab.events.find(({ type }) => type === "chat:recovery:skipped");
    expect(parked?.payload).toMatchObject({ attempt: 1, reason: "awaiting_client_interaction" });
    expect(await lab.rest()).toMatchObject({ schedules: [], alarm: null });
    expect(lab.model.calls).toHaveLength(1);
    const back = await lab.connect();
    back.toolResult({ toolCallId: "call-1", toolName: "ask_user", output: "yes", autoContinue: true });
    await back.waitFor({ type: RESPONSE, done: true });
    expect((await back.history()).at(-1)?.parts.at(-1)).toMatchObject({ text: "Thanks" });
    expect(JSON.stringify(lab.model.calls[1]?.prompt)).toContain('"yes"');
  });

  it("§3.9: an approval after a month of crashes, each of them a detection, runs the tool and resumes the turn", async () => {
    const asked = gate();
    const lab = newLab([[toolCall("erase", {}), asked, hang()], "It is gone."], {
      chatRecovery: { noProgressTimeoutMs: 0, maxAttempts: 1 }
    });
    (await lab.connect()).chat("Erase it");
    await asked.reached;
    for (let life = 0; life < 10; life += 1) {
      later(3 * DAY);
      await crash(lab.stub());
      await lab.stub().getMessages();
    }
    expect(lab.types()).not.toContain("chat:recovery:exhausted");
    const back = await lab.connect();
    back.toolApproval("call-1", true);
    await back.waitFor({ type: RESPONSE, done: true });
    expect(JSON.stringify(await back.history())).toContain("erased");
    expect((await back.history()).at(-1)?.parts.at(-1)).toMatchObject({ text: "It is gone." });
  });
});

describe("a poisoned turn, which takes its isolate down whenever it starts,", () => {
  /** Visits the object until recovery has given the turn up; returns how many isolates that took. */
  async function visitUntilSealed(lab: ReturnType<typeof newLab>, between: number): Promise<number> {
    for (let lives = 1; lives <= 30; lives += 1) {
      const turns = lab.lab.turns.length;
      later(between);
      await lab.stub().getMessages();
      if (lab.types().includes("chat:recovery:exhausted")) return lives;
      // The platform's clock stands behind the one of the test, so the alarm is rung by hand. The turn takes it down.
      await fireAlarm(lab.stub()).catch(() => undefined);
      expect(lab.lab.turns.length).toBeGreaterThan(turns);
    }
    return Infinity;
  }

  it.each([
    ["within its attempts", { maxAttempts: 3 }, 31_000, "max_attempts_exceeded"],
    ["within its time, however fast it dies", { noProgressTimeoutMs: 60_000 }, 7_000, "no_progress_timeout"]
  ] as const)(
    "is sealed %s, with the reason shown, and the object stays usable",
    async (_name, budget, between, reason) => {
      const lab = newLab(["fine"], {
        beforeTurn: (agent) => agent.die(),
        chatRecovery: { ...budget, terminalMessage: "It is over." }
      });
      const client = await lab.connect();
      const { id } = client.chat("Hi");
      await client.closed;
      expect(await visitUntilSealed(lab, between)).toBeLessThanOrEqual(12);
      const exhausted = lab.lab.events.find(({ type }) => type === "chat:recovery:exhausted");
      expect(exhausted?.payload).toMatchObject({
        reason,
        terminalMessage: "It is over.",
        recoveryRootRequestId: id
      });
      lab.lab.beforeTurn = () => undefined;
      const back = await lab.connect();
      expect(await (await back.resume())?.done).toMatchObject({ error: "It is over." });
      expect(back.frames.some(({ type }) => type === "cf_agent_chat_recovering")).toBe(false);
      expect((await back.chat("Again").done).text).toBe("fine");
      expect((await lab.rest()).schedules).toEqual([]);
    }
  );
});
