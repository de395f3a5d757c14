/** The scheduled attempts, called by hand: durability.md §3.8–3.11 and traps 12–18. */
import { gate, runInAgent, userMessage } from "@cloudflare/think/testing";
import type { UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import { newLab } from "./recovery-support";

const answer = (id: string, content: string): UIMessage => ({
  id,
  role: "assistant",
  parts: [{ type: "text", text: content }]
});

const KEY = "cf:chat-recovery:incident:root%3Au1";

const incident = (changes: object = {}) => ({
  ...{ incidentId: "root:u1", requestId: "root", recoveryRootRequestId: "root", recoveryKind: "continue" },
  ...{ attempt: 1, maxAttempts: 10, status: "scheduled", firstSeenAt: Date.now(), lastAttemptAt: Date.now() },
  ...changes
});

const payload = (changes: object = {}) => ({ incidentId: "root:u1", originalRequestId: "root", ...changes });

/** An agent with a conversation and a stored incident, in which nothing runs. */
async function prepared(
  script: Parameters<typeof newLab>[0],
  {
    messages,
    stored,
    ...settings
  }: { messages: UIMessage[]; stored?: object | null } & Parameters<typeof newLab>[1] & object
) {
  const lab = newLab(script, settings);
  await lab.stub().addMessages(messages);
  await runInAgent(lab.stub(), (_agent, { storage }) => {
    if (stored !== null) storage.kv.put(KEY, stored ?? incident());
  });
  const read = () => runInAgent(lab.stub(), (_agent, { storage }) => storage.kv.get(KEY));
  const reasons = () =>
    lab.lab.events
      .filter(({ type }) => type.startsWith("chat:recovery"))
      .map(({ type, payload: told }) => [
        type.slice("chat:recovery:".length),
        (told as { reason?: string }).reason
      ]);
  return { ...lab, read, reasons };
}

const question = { ...userMessage("Hi"), id: "u1" };

describe("§3.8 an attempt that has lost its object does nothing", () => {
  it("continue: the leaf is another answer, or a question (trap 13)", async () => {
    for (const messages of [[question, answer("a2", "newer")], [question]]) {
      const { stub, reasons, model } = await prepared([], { messages });
      await runInAgent(stub(), (agent) => agent._chatRecoveryContinue(payload({ targetAssistantId: "a1" })));
      expect(reasons()).toEqual([["skipped", "conversation_changed"]]);
      expect(model.calls).toHaveLength(0);
    }
  });

  it("retry: the question was answered, or another was asked", async () => {
    const answered = await prepared([], { messages: [question, answer("a1", "done")] });
    await runInAgent(answered.stub(), (agent) => agent._chatRecoveryRetry(payload({ targetUserId: "u1" })));
    expect(answered.reasons()).toEqual([["skipped", "no_unanswered_user_message"]]);
    const changed = await prepared([], { messages: [question, { ...userMessage("Or"), id: "u2" }] });
    await runInAgent(changed.stub(), (agent) => agent._chatRecoveryRetry(payload({ targetUserId: "u1" })));
    expect(changed.reasons()).toEqual([["skipped", "conversation_changed"]]);
  });

  it("a schedule that the incident does not name any more is ignored", async () => {
    const { stub, reasons, model } = await prepared([], {
      messages: [question],
      stored: incident({ scheduleId: "new" })
    });
    await runInAgent(stub(), (agent) =>
      agent._chatRecoveryRetry(payload({ targetUserId: "u1" }), { id: "old" })
    );
    expect(reasons()).toEqual([]);
    expect(model.calls).toHaveLength(0);
  });
});

it("§11.5 a schedule that fires before its own plan is on record is the plan, not an old one", async () => {
  const { stub, event, model } = await prepared(["fine"], {
    messages: [question],
    stored: incident({ scheduleId: "first", plans: 1 })
  });
  const early = payload({ targetUserId: "u1", plan: 2 });
  await runInAgent(stub(), (agent) => agent._chatRecoveryRetry(early, { id: "second" }));
  await event("completed");
  expect(model.calls).toHaveLength(1);
});

describe("§3.8 an attempt", () => {
  it("trap 11: uses the snapshot's body and client tools although newer ones were stored", async () => {
    const { stub, model, event } = await prepared(["fine"], { messages: [question] });
    const tools = [{ name: "ask_user", description: "Asks." }];
    await runInAgent(stub(), (agent) =>
      agent._chatRecoveryRetry(
        payload({ targetUserId: "u1", lastBody: { old: true }, lastClientTools: tools })
      )
    );
    await event("completed");
    expect(model.calls[0]?.tools.map(({ name }) => name)).toContain("ask_user");
  });

  it("of a turn that brought nothing along leaves what the clients said as it is", async () => {
    const { stub, model, event, connect } = await prepared(["first", "fine"], { messages: [] });
    const client = await connect();
    const tools = [{ name: "ask_user", description: "Asks." }];
    await client.chat([question], { body: { mode: "mine" }, clientTools: tools }).done;
    await stub().addMessages([{ ...userMessage("And?"), id: "u2" }]);
    await runInAgent(stub(), (agent) =>
      agent._chatRecoveryRetry(payload({ targetUserId: "u2", lastBody: null, lastClientTools: null }))
    );
    await event("completed");
    expect(model.calls[1]?.tools.map(({ name }) => name)).not.toContain("ask_user");
    const kept = await runInAgent(stub(), (_agent, { storage }) =>
      storage.sql.exec("SELECT key FROM think_config WHERE key LIKE 'last%' ORDER BY key").toArray()
    );
    expect(kept).toEqual([{ key: "lastBody" }, { key: "lastClientTools" }]);
  });

  it("reads what the published package stored: no schedule id, no snapshot fields", async () => {
    const { stub, event, read } = await prepared(["on"], { messages: [question, answer("a1", "Half")] });
    await runInAgent(stub(), (agent) =>
      agent._chatRecoveryContinue(payload({ targetAssistantId: "a1" }), { id: "theirs" })
    );
    await event("completed");
    expect(await read()).toBeUndefined();
  });
});

describe("§3.9 a conversation that does not come to rest", () => {
  /** A turn that holds the stage, and an attempt that waits for it in vain. */
  async function busy(stored: object | null, chatRecovery: object, told = payload()) {
    const held = gate();
    const lab = await prepared([[held]], { messages: [question], stored, chatRecovery });
    const running = runInAgent(lab.stub(), (agent) => agent.saveMessages([userMessage("More")]));
    await held.reached;
    const attempt = () =>
      runInAgent(lab.stub(), (agent) => agent._chatRecoveryContinue({ ...told, targetAssistantId: "a1" }));
    const finish = async () => {
      held.open();
      await running;
    };
    return { ...lab, attempt, finish };
  }

  it("trap 14: is tried again in 3 s, one attempt further", async () => {
    const { attempt, finish, read, rest } = await busy(incident(), { stableTimeoutMs: 0 });
    await attempt();
    expect(await read()).toMatchObject({ attempt: 2, status: "scheduled", reason: "stable_timeout_retry" });
    expect((await rest()).schedules).toEqual(["_chatRecoveryContinue"]);
    await finish();
  });

  it("trap 16: is given up visibly, also when its incident is gone, and only once", async () => {
    const told: string[] = [];
    const settings = {
      stableTimeoutMs: 0,
      terminalMessage: "It is over.",
      onExhausted: ({ reason }: { readonly reason: string }) => void told.push(reason)
    };
    const gone = await busy(null, settings);
    await gone.attempt();
    await gone.attempt();
    expect(told).toEqual(["stable_timeout"]);
    await gone.finish();
    const nameless = await busy(null, settings, { incidentId: "", originalRequestId: "root" });
    await nameless.attempt();
    expect(told.splice(1)).toEqual(["stable_timeout"]);
    await nameless.finish();
    const spent = await busy(incident({ attempt: 10 }), settings);
    const client = await spent.connect();
    await spent.attempt();
    expect(told).toEqual(["stable_timeout", "stable_timeout"]);
    await client.waitFor((frame) => frame.body === "It is over." && frame.error === true);
    expect(await spent.read()).toMatchObject({ status: "exhausted", reason: "stable_timeout" });
    await spent.finish();
  });
});
