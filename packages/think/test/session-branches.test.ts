/** Branches for people, through the agent and over the socket: durability.md §8.3, §8.4, §8.15. */
import type { UIMessage } from "ai";
import { crash, evict, hang, text, throwError, userMessage } from "@cloudflare/think/testing";
import { describe, expect, it } from "vitest";
import { newSessions, said, shows } from "./session-support";

/** Frames that both generations of the stock client know. */
const STOCK = new Set([
  "cf_agent_identity",
  "cf_agent_mcp_servers",
  "cf_agent_state",
  "cf_agent_chat_messages",
  "cf_agent_use_chat_response",
  "cf_agent_message_updated",
  "cf_agent_stream_resuming",
  "cf_agent_stream_resume_none",
  "cf_agent_chat_clear"
]);

const first = (messages: readonly UIMessage[], count: number) => messages.slice(0, count);

describe("§8.15 a regeneration over the socket", () => {
  it("makes a sibling; one may look at both, go back, and go on from either", async () => {
    const { connect, stub } = newSessions(["old", "new", "after old"]);
    const [client, other] = [await connect(), await connect()];
    await client.chat([userMessage("Q", "q")]).done;
    const question = await client.history();
    await client.chat(first(question, 1), { trigger: "regenerate-message" }).done;
    expect(said(await client.history())).toEqual(["Q", "new"]);
    const current = (await client.history())[1]?.id ?? "";
    const branches = await stub().getBranches(current);
    expect(branches.map(({ active, label }) => [active, label])).toEqual([
      [false, null],
      [true, null]
    ]);
    const old = branches[0]?.messageId ?? "";
    const at = other.frames.length;
    expect(said(await stub().switchBranch(old))).toEqual(["Q", "old"]);
    await shows(client, ["Q", "old"]);
    await shows(other, ["Q", "old"], at);
    await client.chat([...(await client.history()), userMessage("more")]).done;
    expect(said(await stub().switchBranch(current))).toEqual(["Q", "new"]);
    // The branch is followed to where it was left.
    expect(said(await stub().switchBranch(old))).toEqual(["Q", "old", "more", "after old"]);
    expect((await stub().getBranches(old)).map(({ leafId }) => leafId).includes(old)).toBe(false);
    for (const { frames } of [client, other])
      expect(frames.map(({ type }) => type).filter((type) => !STOCK.has(type))).toEqual([]);
  });

  it("shows every other tab the path it goes on from before its first word, and the old answer again when it fails", async () => {
    const { connect } = newSessions(["old", "new", [throwError("no luck")]]);
    const [client, other] = [await connect(), await connect()];
    await client.chat([userMessage("Q", "q")]).done;
    const question = first(await client.history(), 1);
    const at = other.frames.length;
    const turn = client.chat(question, { trigger: "regenerate-message" });
    await turn.done;
    await shows(other, ["Q"], at);
    const frames = other.frames.slice(at).map(({ type }) => type);
    expect(frames.indexOf("cf_agent_chat_messages")).toBeLessThan(
      frames.indexOf("cf_agent_use_chat_response")
    );
    const failed = await client.chat(question, { trigger: "regenerate-message" }).done;
    expect(failed.error).toContain("no luck");
    for (const tab of [client, other]) await shows(tab, ["Q", "new"]);
  });

  it("that is interrupted leaves both branches, also after a crash", async () => {
    const { connect, stub, recovered } = newSessions(["old", [text("ne"), hang()], "w"]);
    const client = await connect();
    await client.chat([userMessage("Q", "q")]).done;
    await client.chat(first(await client.history(), 1), { trigger: "regenerate-message" }).waitForText("ne");
    await crash(stub());
    await stub().getMessages();
    await recovered("completed");
    expect(said(await stub().getMessages())).toEqual(["Q", "ne", "w"]);
    const [old] = await stub().getBranches((await stub().getMessages())[1]?.id ?? "");
    expect(said(await stub().getHistory(old?.leafId))).toEqual(["Q", "old"]);
  });
});

describe("§8.15 an edit over the socket", () => {
  it("goes on from the new words; the old ones and their answers stay as a branch", async () => {
    const { connect, stub, model } = newSessions(["one", "two", "new one", "three"]);
    const [client, other] = [await connect(), await connect()];
    await client.chat([userMessage("Q1", "q1")]).done;
    await client.chat([...(await client.history()), userMessage("Q2", "q2")]).done;
    const at = other.frames.length;
    await client.chat([userMessage("Q1 edited", "q1")]).done;
    expect(JSON.stringify(model.calls[2]?.prompt)).not.toContain("Q2");
    await shows(other, ["Q1 edited"], at);
    expect(said(await stub().getMessages())).toEqual(["Q1 edited", "new one"]);
    const branches = await stub().getBranches("q1");
    expect(branches.map(({ active }) => active)).toEqual([false, true]);
    const old = branches[0]?.messageId ?? "";
    expect(said(await stub().getHistory(branches[0]?.leafId))).toEqual(["Q1", "one", "Q2", "two"]);
    await evict(stub());
    expect(said(await stub().switchBranch(old))).toEqual(["Q1", "one", "Q2", "two"]);
    await shows(client, ["Q1", "one", "Q2", "two"]);
    await client.chat([...(await client.history()), userMessage("Q3")]).done;
    expect(said(await stub().getMessages())).toEqual(["Q1", "one", "Q2", "two", "Q3", "three"]);
    expect(await stub().getMessageCount()).toEqual({ path: 6, total: 8 });
  });
});

describe("branches for people", () => {
  const dialogue = async (script: string[]) => {
    const made = newSessions(script);
    for (const index of script.keys())
      await made.stub().saveMessages([userMessage(`Q${index}`, `q${index}`)]);
    return made;
  };

  it("have names that survive an eviction, are bounded, and can be taken away", async () => {
    const { stub } = await dialogue(["one"]);
    const label = async () => (await stub().getBranches("q0"))[0]?.label;
    await stub().labelBranch("q0", "  The good one ");
    await evict(stub());
    expect(await label()).toBe("The good one");
    await stub().labelBranch("q0", "x".repeat(10_000));
    expect((await label())?.length).toBe(200);
    await stub().labelBranch("q0", null);
    expect(await label()).toBeNull();
  });

  it("end at a chosen message: what followed stays, clients see the shorter path, the next message forks", async () => {
    const { connect, stub } = await dialogue(["one", "two", "three"]);
    const client = await connect();
    expect(said(await stub().setActiveLeaf("q1"))).toEqual(["Q0", "one", "Q1"]);
    await shows(client, ["Q0", "one", "Q1"]);
    await evict(stub());
    expect(said(await stub().getMessages())).toEqual(["Q0", "one", "Q1"]);
    await stub().addMessages([userMessage("instead", "instead")]);
    await shows(client, ["Q0", "one", "Q1", "instead"]);
    const [old, now] = await stub().getBranches("instead");
    expect([old?.active, now?.active]).toEqual([false, true]);
    expect(said(await stub().getHistory(old?.leafId))).toEqual(["Q0", "one", "Q1", "two", "Q2", "three"]);
  });

  it("fork into a session of their own: new ids, and neither changes the other", async () => {
    const { stub } = await dialogue(["one", "two"]);
    const fork = await stub().forkSession("q1", "Experiment");
    expect(fork).toMatchObject({ name: "Experiment", parent_session_id: "default" });
    expect(await stub().getCurrentSessionId()).toBe("default");
    const before = await stub().getMessages();
    const copy = await stub().switchSession(fork.id);
    expect(said(copy)).toEqual(["Q0", "one", "Q1"]);
    expect(new Set([...before, ...copy].map(({ id }) => id)).size).toBe(before.length + copy.length);
    await stub().deleteMessages([copy[0]?.id ?? ""]);
    expect(said(await stub().getMessages())).toEqual(["one", "Q1"]);
    expect(await stub().switchSession("default")).toEqual(before);
  });

  it("§8.3 close over deleted messages, in memory, for clients and after an eviction", async () => {
    const { connect, stub } = await dialogue(["one", "two", "three"]);
    const client = await connect();
    const answer = (await stub().getMessages())[1]?.id ?? "";
    expect((await stub().deleteMessages([answer, "q1", "unknown"])).toSorted()).toEqual(
      [answer, "q1"].toSorted()
    );
    const left = ["Q0", "two", "Q2", "three"];
    await shows(client, left);
    expect(said(await stub().getMessages())).toEqual(left);
    await evict(stub());
    expect(said(await stub().getMessages())).toEqual(left);
    const all = (await stub().getMessages()).map(({ id }) => id);
    await stub().deleteMessages(all);
    await shows(client, []);
    expect([await stub().getMessages(), await stub().getMessageCount()]).toEqual([[], { path: 0, total: 0 }]);
  });

  it("§8.3 are gone with a conversation that is cleared: the next one has no forks of the old one", async () => {
    const { connect, stub, rows } = newSessions(["old", "new", "fresh"]);
    const client = await connect();
    await client.chat([userMessage("Q", "q")]).done;
    await client.chat([userMessage("Q, edited", "q")]).done;
    expect(await stub().getBranches("q")).toHaveLength(2);
    await stub().clearMessages();
    expect(await rows("SELECT * FROM assistant_branches")).toEqual([]);
    await client.chat([userMessage("again", "root")]).done;
    expect(await stub().getBranches("root")).toEqual([
      { messageId: "root", leafId: expect.any(String), label: null, active: true }
    ]);
  });

  it("of messages there are not are refused by name, and nothing changes", async () => {
    const { stub, refusals } = await dialogue(["one"]);
    const refused = await refusals(
      (agent) => agent.getBranches("nope"),
      (agent) => agent.switchBranch("nope"),
      (agent) => agent.setActiveLeaf("nope"),
      (agent) => agent.labelBranch("nope", "x"),
      (agent) => agent.getMessagesBefore("nope"),
      (agent) => agent.forkSession("nope", "x")
    );
    expect(refused).toEqual(refused.map(() => expect.stringContaining('no message "nope"')));
    expect(await stub().getHistory("nope")).toEqual([]);
    expect((await stub().getSessions()).length).toBe(1);
    expect(said(await stub().getMessages())).toEqual(["Q0", "one"]);
  });
});
