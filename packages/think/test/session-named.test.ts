/** Several named conversations on one agent: durability.md §10. */
import { crash, evict, gate, hang, streamError, text, userMessage } from "@cloudflare/think/testing";
import { describe, expect, it } from "vitest";
import { newSessions, said, shows } from "./session-support";

const nameOf = (created: Promise<{ readonly name: string }>) =>
  created.then(
    ({ name }) => name,
    () => null
  );

describe("§10 an agent that never names a session", () => {
  it("has none before its first message, and then one that is called New Chat", async () => {
    const { connect, stub } = newSessions(["Hello"]);
    const client = await connect();
    expect([
      await stub().getCurrentSessionId(),
      await stub().getSession(),
      await stub().getSessions()
    ]).toEqual([null, null, []]);
    await client.chat("Hi").done;
    const current = await stub().getSession();
    expect(current).toMatchObject({ id: await stub().getCurrentSessionId(), name: "New Chat" });
    expect(await stub().getSessions()).toEqual([current]);
    expect(await stub().getMessageCount()).toEqual({ path: 2, total: 2 });
  });

  it("stores its blocks under their bare labels; another session has a suffix, and each its own content", async () => {
    const { stub, rows, on } = newSessions(["one", "two"], {
      configure: (session) => session.withContext("memory", {}).withCachedPrompt()
    });
    await stub().saveMessages([userMessage("Hi")]);
    await on((agent) => agent.session.replaceContextBlock("memory", "first"));
    const { id } = await stub().createSession("other");
    await stub().saveMessages([userMessage("Hi")]);
    await on((agent) => agent.session.replaceContextBlock("memory", "second"));
    expect(await rows("SELECT label FROM cf_agents_context_blocks ORDER BY label")).toEqual(
      [`_system_prompt`, `_system_prompt_${id}`, "memory", `memory_${id}`]
        .toSorted()
        .map((label) => ({ label }))
    );
    await stub().switchSession("default");
    await on((agent) => agent.session.refreshSystemPrompt());
    expect(await on((agent) => agent.session.getContextBlock("memory")?.content)).toBe("first");
  });
});

describe("§10 createSession and switchSession", () => {
  it("make a session active, and every connected client shows it at once", async () => {
    const { connect, stub } = newSessions(["one", "two"]);
    const clients = [await connect(), await connect()];
    await clients[0]?.chat("In the first").done;
    const at = clients.map((client) => client.frames.length);
    const work = await stub().createSession("Work");
    expect(work).toMatchObject({ name: "Work", parent_session_id: null, end_reason: null });
    expect(await stub().getCurrentSessionId()).toBe(work.id);
    for (const [index, client] of clients.entries()) await shows(client, [], at[index]);
    await clients[1]?.chat("In the second").done;
    expect(said(await stub().switchSession("default"))).toEqual(["In the first", "one"]);
    for (const client of clients) await shows(client, ["In the first", "one"]);
    expect(said(await stub().switchSession(work.id))).toEqual(["In the second", "two"]);
    expect((await stub().getSessions()).map(({ name }) => name)).toEqual(["Work", "New Chat"]);
  });

  it("survive an eviction: the active one is the same, and its messages and name are there", async () => {
    const { connect, stub } = newSessions(["one", "two", "three"]);
    const client = await connect();
    await client.chat("A").done;
    const { id } = await stub().createSession("B");
    await client.chat("B").done;
    await stub().renameSession(id, "Better");
    await evict(stub());
    expect([await stub().getCurrentSessionId(), said(await stub().getMessages())]).toEqual([
      id,
      ["B", "two"]
    ]);
    expect(await stub().getSession()).toMatchObject({ id, name: "Better" });
    await client.chat("more").done;
    expect(said(await stub().getMessages())).toEqual(["B", "two", "more", "three"]);
    await stub().switchSession("default");
    await evict(stub());
    expect(said(await stub().getMessages())).toEqual(["A", "one"]);
  });

  it("keep equal message ids of two sessions apart", async () => {
    const { stub } = newSessions(["one", "two"]);
    await stub().saveMessages([userMessage("in A", "same")]);
    await stub().createSession("B");
    await stub().saveMessages([userMessage("in B", "same")]);
    expect(said(await stub().switchSession("default"))).toEqual(["in A", "one"]);
    await evict(stub());
    expect(said(await stub().getMessages())).toEqual(["in A", "one"]);
  });

  it("ask configureSession once per session object, not per turn", async () => {
    const { stub, sessions } = newSessions(["one", "two", "three"]);
    await stub().saveMessages([userMessage("1")]);
    await stub().saveMessages([userMessage("2")]);
    const { id } = await stub().createSession("B");
    await stub().saveMessages([userMessage("3")]);
    await stub().switchSession(id);
    await stub().switchSession("default");
    expect(sessions.configured).toEqual([null, id, "default"]);
  });

  it("begin a turn that comes meanwhile only when the session is configured", async () => {
    const configuring = gate();
    let waits = false;
    const { stub, model, on } = newSessions(["one"], {
      configure: async (session) => {
        if (waits) await configuring.wait();
        return session.withContext("memory", { provider: { get: async () => "Known." } });
      }
    });
    await stub().getMessages();
    waits = true;
    const created = stub().createSession("slow");
    await configuring.reached;
    const turn = on((agent) => agent.saveMessages([userMessage("Hi")]));
    await expect.poll(() => on((agent) => agent.messages.length)).toBe(1);
    configuring.open();
    expect((await turn).status).toBe("completed");
    await created;
    expect(JSON.stringify(model.calls[0]?.prompt[0])).toContain("Known.");
  });

  it("go through when configureSession fails: clients see the session, the failure is told, turns run", async () => {
    let fails = false;
    const { connect, stub, events } = newSessions(["one", "two"], {
      configure: (session) => {
        if (fails) throw new Error("no bucket");
        return session;
      }
    });
    const client = await connect();
    await client.chat("A").done;
    fails = true;
    const { id } = await stub().createSession("B");
    await shows(client, []);
    expect(await stub().getCurrentSessionId()).toBe(id);
    expect(await stub().degradations()).toEqual(["session-configuration"]);
    expect(events("chat:onstart:degraded")).toEqual([{ step: "session-configuration", error: "no bucket" }]);
    expect((await client.chat("still here").done).text).toBe("two");
  });
});

describe("§10 bad input", () => {
  it("an unknown id is refused as such, everywhere, and nothing changes", async () => {
    const { stub, refusals } = newSessions(["one"]);
    await stub().saveMessages([userMessage("Hi")]);
    const refused = await refusals(
      (agent) => agent.switchSession("nope"),
      (agent) => agent.deleteSession("nope"),
      (agent) => agent.renameSession("nope", "x"),
      (agent) => agent.exportSession("nope")
    );
    expect(refused).toEqual(refused.map(() => expect.stringContaining("Session not found")));
    expect([await stub().getCurrentSessionId(), (await stub().getSessions()).length]).toEqual(["default", 1]);
  });

  it("a name is a text of bounded length", async () => {
    const { stub, refusals } = newSessions(["one"]);
    await stub().saveMessages([userMessage("Hi")]);
    const names: unknown[] = ["", "  ", "x".repeat(501), 7, null, {}];
    for (const name of names) {
      const refused = await refusals(
        (agent) => agent.createSession(name as string),
        (agent) => agent.renameSession("default", name as string)
      );
      expect(refused).toEqual(refused.map(() => expect.stringContaining("name is a text")));
    }
    expect(await stub().getSessions()).toMatchObject([{ name: "New Chat" }]);
  });

  it("/get-messages answers for a session, active or not, and with 404 for one there is not", async () => {
    const { stub, getMessages } = newSessions(["one", "two"]);
    await stub().saveMessages([userMessage("A")]);
    const { id } = await stub().createSession("B");
    await stub().saveMessages([userMessage("B")]);
    expect(said(await (await getMessages()).json())).toEqual(["B", "two"]);
    expect(said(await (await getMessages(id)).json())).toEqual(["B", "two"]);
    expect(said(await (await getMessages("default")).json())).toEqual(["A", "one"]);
    const unknown = await getMessages("no pe");
    expect([unknown.status, await unknown.json()]).toEqual([
      404,
      { error: expect.stringContaining("Session not found") }
    ]);
  });
});

describe("§10 while a turn is active", () => {
  it("the active session stays: the calls are refused and say what to do; after the turn they work", async () => {
    const { connect, stub, on, refusals } = newSessions(["one", [text("Half"), hang()]]);
    const client = await connect();
    await client.chat("A").done;
    const { id } = await stub().createSession("B");
    const turn = client.chat("B");
    await turn.waitForText("Half");
    const refused = await refusals(
      (agent) => agent.createSession("C"),
      (agent) => agent.switchSession("default"),
      (agent) => agent.deleteSession(id),
      (agent) => agent.switchBranch("x"),
      (agent) => agent.setActiveLeaf("x"),
      (agent) => agent.deleteMessages(["x"])
    );
    expect(refused).toEqual(refused.map(() => expect.stringMatching(/must wait.*cancelAllChats/)));
    // Of other sessions one may still dispose.
    await stub().renameSession("default", "Old");
    expect(said(await stub().switchSession(id))).toEqual(["B"]);
    await stub().deleteSession("default");
    turn.cancel();
    await turn.done;
    await expect.poll(() => on((agent) => nameOf(agent.createSession("C")))).toBe("C");
  });

  it("an interrupted turn is carried on in its session, whatever became of the active one", async () => {
    const { connect, stub, rows, recovered, on } = newSessions(["one", [text("Half"), hang()], "way"]);
    const client = await connect();
    await client.chat("A").done;
    const { id } = await stub().createSession("B");
    await client.chat("B").waitForText("Half");
    await rows(`UPDATE think_config SET value = '""' WHERE key = 'activeSession'`);
    await crash(stub());
    await stub().getMessages();
    await recovered("completed");
    expect(said(await on((agent) => agent.getHistory()))).toEqual(["B", "Half", "way"]);
    expect(await stub().getCurrentSessionId()).toBe(id);
    await expect
      .poll(() => on((agent) => agent.switchSession("default").then(said, String)))
      .toEqual(["A", "one"]);
  });

  it("a turn that is being carried on holds its session too", async () => {
    const going = gate();
    const { connect, stub, on, refusals, recovered } = newSessions([
      [text("Half"), hang()],
      [going, text("way")]
    ]);
    const client = await connect();
    await client.chat("A").waitForText("Half");
    await crash(stub());
    await stub().getMessages();
    await going.reached;
    expect(await refusals((agent) => agent.createSession("B"))).toEqual([
      expect.stringContaining("must wait")
    ]);
    going.open();
    await recovered("completed");
    await expect.poll(() => on((agent) => nameOf(agent.createSession("B")))).toBe("B");
    expect(said(await stub().switchSession("default"))).toEqual(["A", "Half", "way"]);
  });
});

describe("§3.8, §10 an attempt whose session is not the active one", () => {
  const incident = (sessionId: string) => ({
    ...{ incidentId: "i", requestId: "r", recoveryRootRequestId: "r", recoveryKind: "continue", sessionId },
    ...{ attempt: 1, maxAttempts: 3, status: "scheduled", firstSeenAt: Date.now(), lastAttemptAt: Date.now() }
  });

  it("goes there first, and carries the turn on where it began", async () => {
    const { connect, stub, on, recovered } = newSessions(["Half", "way"]);
    await stub().saveMessages([userMessage("A")]);
    await stub().createSession("B");
    const client = await connect();
    await on(async (agent, { storage }) => {
      storage.kv.put("cf:chat-recovery:incident:i", incident(""));
      await agent._chatRecoveryContinue({ incidentId: "i", originalRequestId: "r" });
    });
    await recovered("completed");
    expect(await stub().getCurrentSessionId()).toBe("default");
    expect(said(await stub().getMessages())).toEqual(["A", "Half", "way"]);
    await shows(client, ["A", "Half"]);
  });

  it("is over when that session was deleted", async () => {
    const { stub, on, events } = newSessions(["one"]);
    await stub().saveMessages([userMessage("A")]);
    await on(async (agent, { storage }) => {
      storage.kv.put("cf:chat-recovery:incident:i", incident("gone"));
      await agent._chatRecoveryContinue({ incidentId: "i", originalRequestId: "r" });
    });
    expect(events("chat:recovery:skipped")).toMatchObject([{ reason: "session_deleted" }]);
    expect(said(await stub().getMessages())).toEqual(["A", "one"]);
  });
});

describe("§3.12, §3.13 what is known of the last turn", () => {
  it("belongs to its session: a failure is offered there, and nowhere else", async () => {
    const { connect, stub } = newSessions([[text("Half"), streamError("out of luck")]]);
    const client = await connect();
    const failed = await client.chat("A", { id: "failed" }).done;
    expect(failed.error).toContain("out of luck");
    await stub().createSession("B");
    expect(await (await connect()).resume()).toBeUndefined();
    await stub().switchSession("default");
    const back = await connect();
    expect((await (await back.resume())?.done)?.error).toContain("out of luck");
    await evict(stub());
    expect((await (await (await connect()).resume())?.done)?.error).toContain("out of luck");
  });
});

describe("§10 deleteSession", () => {
  it("removes everything of the session and nothing of another", async () => {
    const { stub, rows, on, refusals } = newSessions(["one", "two", "three"], {
      configure: (session) => session.withContext("memory", {}).withCachedPrompt()
    });
    const tables = [
      ["assistant_messages", "session_id"],
      ["assistant_compactions", "session_id"],
      ["assistant_branches", "session_id"],
      ["assistant_fts_sessions", "session_id"],
      ["assistant_fts", "session_id"],
      ["assistant_sessions", "id"]
    ] as const;
    await stub().saveMessages([userMessage("A", "a")]);
    const { id } = await stub().createSession("B");
    for (const question of ["b1", "b2"]) await stub().saveMessages([userMessage(question, question)]);
    await stub().setActiveLeaf("b1");
    await stub().searchMessages("b1");
    await on(async (agent) => {
      await agent.session.replaceContextBlock("memory", "of B");
      await agent.session.addContext("notes");
      await agent.session.replaceContextBlock("notes", "of B too");
      await agent.session.refreshSystemPrompt();
    });
    await rows(
      `INSERT INTO assistant_compactions (id, session_id, summary, from_message_id, to_message_id, created_at) VALUES ('c', ?, 's', 'b1', 'b1', 1)`,
      id
    ).catch(() => undefined);
    await stub().switchSession("default");
    await stub().deleteSession(id);
    for (const [table, column] of tables) {
      const left = await rows(`SELECT count(*) AS n FROM ${table} WHERE ${column} = ?`, id).catch(() => [
        { n: 0 }
      ]);
      expect({ table, left }).toEqual({ table, left: [{ n: 0 }] });
    }
    expect(await rows("SELECT label FROM cf_agents_context_blocks WHERE label LIKE ?", `%${id}`)).toEqual([]);
    expect(said(await stub().getMessages())).toEqual(["A", "one"]);
    expect(await refusals((agent) => agent.switchSession(id))).toEqual([
      expect.stringContaining("Session not found")
    ]);
  });

  it("of the active one leaves none: clients show nothing, and the next message begins a new one", async () => {
    const { connect, stub } = newSessions(["one", "two", "three"]);
    const client = await connect();
    await client.chat("A").done;
    const { id } = await stub().createSession("B");
    await client.chat("B").done;
    const at = client.frames.length;
    await stub().deleteSession(id);
    await shows(client, [], at);
    expect([await stub().getCurrentSessionId(), await stub().getSession()]).toEqual([null, null]);
    await client.chat("C").done;
    expect(said(await stub().getMessages())).toEqual(["C", "three"]);
    expect(await stub().getSession()).toMatchObject({ name: "New Chat" });
    expect((await stub().getSessions()).length).toBe(2);
  });

  it("of the active one, then an eviction: the one that changed last is active", async () => {
    const { stub } = newSessions(["one", "two"]);
    await stub().saveMessages([userMessage("A")]);
    const { id } = await stub().createSession("B");
    await stub().saveMessages([userMessage("B")]);
    await stub().deleteSession(id);
    await evict(stub());
    expect([await stub().getCurrentSessionId(), said(await stub().getMessages())]).toEqual([
      "default",
      ["A", "one"]
    ]);
  });
});

describe("§10 clearMessages", () => {
  it("empties the active session and keeps it, its name, its blocks and the others", async () => {
    const { connect, stub, on } = newSessions(["one", "two"], {
      configure: (session) => session.withContext("memory", {})
    });
    const client = await connect();
    await client.chat("A").done;
    const { id } = await stub().createSession("B");
    await client.chat("B").done;
    await on((agent) => agent.session.replaceContextBlock("memory", "kept"));
    await stub().clearMessages();
    await client.waitFor("cf_agent_chat_clear");
    expect([await stub().getMessages(), await stub().getCurrentSessionId()]).toEqual([[], id]);
    expect(await on((agent) => agent.session.getContextBlock("memory")?.content)).toBe("kept");
    expect(said(await stub().switchSession("default"))).toEqual(["A", "one"]);
  });
});
