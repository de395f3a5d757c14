import type { UIMessage } from "ai";
import { beforeAll, describe, expect, it } from "vitest";
import { answer, dialogue, ids, loadWorker, onNewObject, user, fullPath } from "./worker/messages-agents";

beforeAll(loadWorker, 60_000);

const MIB = 1024 * 1024;
const big = (id: string): UIMessage => ({
  id,
  role: "user",
  parts: [{ type: "file", mediaType: "image/png", url: `data:image/png;base64,${"A".repeat(1_900_000)}` }]
});

describe("§6.1 the ways in", () => {
  it("put inserts, then updates in place, and tells what is stored", () =>
    onNewObject(({ wake }) => {
      const { conversation } = wake();
      conversation.append([user("u")]);
      conversation.put(answer("a", "first"));
      const stored = conversation.put({
        ...answer("a", "second"),
        parts: [
          { type: "reasoning", text: " " },
          { type: "text", text: "second" }
        ]
      });
      expect(stored?.parts).toEqual([{ type: "text", text: "second" }]);
      expect(wake().conversation.messages).toEqual([user("u"), stored]);
    }));

  it("§17.15 append keeps the first content of a known id, and memory and storage agree", () =>
    onNewObject(({ wake }) => {
      const { conversation } = wake();
      conversation.append([user("u", "first")]);
      const again = conversation.append([user("u", "second"), user("v")]);
      expect(again).toEqual({ added: 1, messages: [user("u", "first"), user("v")] });
      expect(conversation.messages).toEqual([user("u", "first"), user("v")]);
      expect(wake().conversation.messages).toEqual(conversation.messages);
    }));

  it("§17.16 an update of an unknown id changes nothing and does not enter memory", () =>
    onNewObject(({ wake, rows }) => {
      const { conversation } = wake();
      conversation.append([user("u")]);
      expect(conversation.update(answer("nobody"))).toBeUndefined();
      expect(conversation.update(user("u", "edited"))).toEqual(user("u", "edited"));
      expect(ids(conversation.messages)).toEqual(["u"]);
      expect(rows("SELECT id FROM assistant_messages")).toEqual([{ id: "u" }]);
    }));

  it("stores nothing of an answer that is only the internal final answer", () =>
    onNewObject(({ wake, rows }) => {
      const { conversation } = wake();
      conversation.append([user("u")]);
      const parts = [
        { type: "step-start" },
        { type: "tool-think_final_answer", toolCallId: "t", state: "output-available", input: {}, output: 1 }
      ];
      expect(conversation.put({ id: "a", role: "assistant", parts: parts as UIMessage["parts"] })).toBeNull();
      expect(rows("SELECT id FROM assistant_messages")).toHaveLength(1);
    }));

  it("§8.3 a parent makes a branch, a null or unknown one a new root, and siblings stay stored", () =>
    onNewObject(({ wake, rows }) => {
      const { conversation } = wake();
      conversation.append([user("u1"), answer("a1"), user("u2"), answer("a2")]);
      conversation.put(answer("b1"), "u1");
      expect(ids(conversation.messages)).toEqual(["u1", "b1"]);
      conversation.append([user("u3"), answer("a3")], { parentId: "a2" });
      expect(ids(conversation.messages)).toEqual(["u1", "a1", "u2", "a2", "u3", "a3"]);
      expect(ids(wake().conversation.messages)).toEqual(["u1", "a1", "u2", "a2", "u3", "a3"]);
      conversation.put(user("root"), null);
      expect(ids(conversation.messages)).toEqual(["root"]);
      conversation.put(user("other"), "nowhere");
      expect(ids(wake().conversation.messages)).toEqual(["other"]);
      expect(rows("SELECT id FROM assistant_messages WHERE parent_id = 'u1' ORDER BY id")).toEqual([
        { id: "a1" },
        { id: "b1" }
      ]);
      expect(rows("SELECT count(*) AS n FROM assistant_messages")).toEqual([{ n: 9 }]);
    }));

  it("a duplicate with a parent moves nothing", () =>
    onNewObject(({ wake }) => {
      const { conversation } = wake();
      conversation.append([user("u1"), answer("a1"), user("u2")]);
      expect(conversation.append([answer("a1", "other")], { parentId: "u2" }).added).toBe(0);
      expect(ids(conversation.messages)).toEqual(["u1", "a1", "u2"]);
    }));

  it("clear forgets everything, also for the next life", () =>
    onNewObject(({ wake, rows }) => {
      const { conversation } = wake();
      conversation.append([user("u"), answer("a")]);
      conversation.clear();
      expect(conversation.messages).toEqual([]);
      expect(wake().conversation.messages).toEqual([]);
      expect(rows("SELECT leaf_id, path_count FROM assistant_sessions")).toEqual([
        { leaf_id: null, path_count: 0 }
      ]);
      conversation.append([user("u", "again")]);
      expect(wake().conversation.messages).toEqual([user("u", "again")]);
    }));
});

describe("§6.3 messages too large for a row", () => {
  it("are stored cut, and the caller is given what is stored", () =>
    onNewObject(({ wake }) => {
      const { conversation } = wake();
      const stored = conversation.put(answer("a", "x".repeat(2_000_000)));
      expect(JSON.stringify(stored)).toContain("Text truncated");
      expect(conversation.messages).toEqual([stored]);
      expect(wake().conversation.messages).toEqual([stored]);
    }));

  it("cost nothing when a client repeats the original", () =>
    onNewObject(async ({ wake, cost }) => {
      const { conversation } = wake();
      const original = answer("a", "x".repeat(2_000_000));
      conversation.put(original);
      const { totalRead, totalWritten } = await cost(() => conversation.receive([original]));
      expect([totalRead, totalWritten]).toEqual([0, 0]);
    }));

  it("are refused as a whole with their request when they cannot be cut; the object stays usable", () =>
    onNewObject(({ wake, rows }) => {
      const { conversation } = wake();
      // On a new object even the tables are younger than the failed transaction.
      expect(() => conversation.receive([user("u1"), big("u2")])).toThrow(/at most 1800000/);
      expect(conversation.messages).toEqual([]);
      conversation.append([user("u0")]);
      expect(() => conversation.receive([user("u0", "edited"), user("u1"), big("u2")])).toThrow(
        /at most 1800000/
      );
      expect(conversation.messages).toEqual([user("u0")]);
      conversation.append([user("u3")]);
      expect(wake().conversation.messages).toEqual([user("u0"), user("u3")]);
      expect(rows("SELECT count(*) AS n FROM assistant_messages")).toEqual([{ n: 2 }]);
    }));
});

describe("a write that fails", () => {
  it("leaves memory, leaf and rows as they were, even at the last moment", () =>
    onNewObject(({ wake }) => {
      let broken = false;
      const commit = () => {
        if (broken) throw new Error("disk full");
      };
      const { conversation } = wake({ commit });
      conversation.append(dialogue(2));
      broken = true;
      expect(() => conversation.append([user("lost")])).toThrow("disk full");
      broken = false;
      expect(conversation.messages).toEqual(dialogue(2));
      conversation.append([user("next")]);
      expect(conversation.messages).toEqual([...dialogue(2), user("next")]);
      expect(wake().conversation.messages).toEqual(conversation.messages);
    }));
});

describe("§6.4 a list from a client", () => {
  it("that is unchanged costs no row, and one new message costs its row and the leaf", () =>
    onNewObject(async ({ wake, cost }) => {
      const { conversation } = wake();
      const list = dialogue(200);
      conversation.append(list);
      const same = await cost(() => conversation.receive(structuredClone(list)));
      expect([same.totalRead, same.totalWritten]).toEqual([0, 0]);
      const more = await cost(() => conversation.receive([...structuredClone(list), user("new")]));
      expect(more.totalWritten).toBe(2);
      expect(more.totalRead).toBeLessThanOrEqual(3);
    }));

  it("updates what the client edited, in place, and deletes nothing that it left out", () =>
    onNewObject(({ wake }) => {
      const { conversation } = wake();
      conversation.append(dialogue(4));
      expect(conversation.receive([user("m0", "edited"), user("new")])).toEqual({
        written: 2,
        lastId: "new"
      });
      expect(ids(conversation.messages)).toEqual(["m0", "m1", "m2", "m3", "new"]);
      expect(wake().conversation.messages[0]).toEqual(user("m0", "edited"));
    }));

  it("does not undo a longer answer that the client has not seen to its end", () =>
    onNewObject(({ wake }) => {
      const { conversation } = wake();
      const stored = answer("a", "first");
      conversation.append([
        user("u"),
        { ...stored, parts: [...stored.parts, { type: "text", text: "second", state: "done" }] }
      ]);
      expect(conversation.receive([user("u"), stored]).written).toBe(0);
      expect(conversation.messages[1]?.parts).toHaveLength(2);
    }));

  it("reports the server's id of the last message, for a regeneration", () =>
    onNewObject(({ wake }) => {
      const { conversation } = wake();
      conversation.append([user("u"), answer("server", "Hello")]);
      expect(conversation.receive([user("u"), answer("optimistic", "Hello")])).toEqual({
        written: 0,
        lastId: "server"
      });
      expect(conversation.receive([])).toEqual({ written: 0, lastId: undefined });
    }));

  it("leaves a message of another branch there, and looks for it only once", () =>
    onNewObject(async ({ wake, cost }) => {
      const { conversation } = wake();
      conversation.append([user("u"), answer("old")]);
      conversation.put(answer("new"), "u");
      const stale = [user("u"), answer("old"), user("next")];
      conversation.receive(stale);
      expect(ids(conversation.messages)).toEqual(["u", "new", "next"]);
      const again = await cost(() => conversation.receive(stale));
      expect([again.totalRead, again.totalWritten]).toEqual([0, 0]);
    }));
});

describe("§6.6 hydration by bytes", () => {
  const total = (messages: readonly UIMessage[]) =>
    messages.reduce((sum, message) => sum + new TextEncoder().encode(JSON.stringify(message)).length, 0);

  it("loads the newest messages that fit, tells once, and leaves storage alone", () =>
    onNewObject(({ wake, rows }) => {
      const list = dialogue(40, 1_000).map((message, index) =>
        index === 3 ? user("m3", "é".repeat(500)) : message
      );
      wake().conversation.append(list);
      const { conversation, events } = wake({ hydrationByteBudget: 11_000 });
      expect(conversation.windowed).toBe(true);
      expect(conversation.messages).toEqual(list.slice(-10));
      const event = {
        type: "chat:hydration:windowed",
        payload: { totalContentBytes: total(list), budgetBytes: 11_000, hydratedMessages: 10 }
      };
      expect(events).toEqual([event]);
      conversation.reload();
      expect(events).toEqual([event]);
      conversation.append([user("new")]);
      conversation.reload();
      expect(events).toHaveLength(2);
      expect(events[1]?.payload).toMatchObject({ totalContentBytes: total([...list, user("new")]) });
      expect(rows("SELECT count(*) AS n FROM assistant_messages")).toEqual([{ n: 41 }]);
    }));

  it("never loads fewer than four messages", () =>
    onNewObject(({ wake }) => {
      wake().conversation.append(dialogue(10, 5_000));
      expect(ids(wake({ hydrationByteBudget: 1 }).conversation.messages)).toEqual(["m6", "m7", "m8", "m9"]);
    }));

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])(
    "has no limit when the budget is %s",
    (hydrationByteBudget) =>
      onNewObject(({ wake }) => {
        wake().conversation.append(dialogue(70, 1_000));
        const { conversation, events } = wake({ hydrationByteBudget });
        expect(conversation.messages).toHaveLength(70);
        expect(conversation.windowed).toBe(false);
        expect(events).toEqual([]);
      })
  );

  it("reads a large conversation page by page, whole within the default budget and windowed beyond", () =>
    onNewObject(({ wake }) => {
      const list = dialogue(20, 1.5 * MIB);
      for (const message of list) wake().conversation.append([message]);
      const { conversation } = wake();
      expect(ids(conversation.messages)).toEqual(ids(list.slice(-15)));
      expect(fullPath(conversation)).toEqual(list);
      expect(ids(wake({ hydrationByteBudget: 0 }).conversation.messages)).toEqual(ids(list));
    }));

  it("reads a short path whatever the sizes in it", () =>
    onNewObject(({ wake }) => {
      const list = [...dialogue(400), ...dialogue(6, MIB, "large"), ...dialogue(400, 20, "late")];
      wake().conversation.append(list);
      expect(wake().conversation.messages).toEqual(list);
    }));

  it("goes on from a window: new messages, edits of old ones, branches and tool calls outside of it", () =>
    onNewObject(({ wake, rows }) => {
      const list = dialogue(30, 1_000);
      const call = {
        type: "tool-x",
        toolCallId: "t",
        state: "output-available",
        input: {},
        output: 1
      } as const;
      list[3] = { id: "m3", role: "assistant", parts: [call] };
      wake().conversation.append(list);
      const life = () => wake({ hydrationByteBudget: 5_000 }).conversation;

      const conversation = life();
      expect(conversation.messages).toHaveLength(4);
      // A client that still has everything sends it: nothing doubles, the edit of an old message arrives.
      const sent = [
        ...list.slice(0, 2),
        user("m2", "edited"),
        {
          ...list[3],
          parts: [{ ...call, state: "input-available", output: undefined }]
        } as unknown as UIMessage,
        ...list.slice(4),
        user("new")
      ];
      expect(conversation.receive(sent)).toEqual({ written: 2, lastId: "new" });
      expect(fullPath(conversation)).toEqual([
        ...list.slice(0, 2),
        user("m2", "edited"),
        ...list.slice(3),
        user("new")
      ]);
      expect(conversation.withToolCall("t")?.id).toBe("m3");
      expect(conversation.get("m2")).toEqual(user("m2", "edited"));

      // An optimistic answer of which the server's row is outside the window keeps that row.
      const optimistic = {
        id: "optimistic",
        role: "assistant",
        parts: [{ ...call, state: "input-available", output: undefined }]
      } as unknown as UIMessage;
      expect(life().receive([optimistic]).written).toBe(0);

      // Regenerating far back: the model sees what came before, the path is the new branch.
      const branched = life();
      expect(ids(branched.upTo("m9"))).toEqual(["m6", "m7", "m8", "m9"]);
      branched.put(answer("branch"), "m4");
      expect(ids(fullPath(branched))).toEqual(["m0", "m1", "m2", "m3", "m4", "branch"]);
      expect(ids(fullPath(life()))).toEqual(["m0", "m1", "m2", "m3", "m4", "branch"]);

      // A new root leaves the window behind.
      branched.append(dialogue(9, 1_000, "more"));
      const windowed = life();
      expect(windowed.windowed).toBe(true);
      windowed.put(user("root"), null);
      expect(windowed.windowed).toBe(false);
      expect(fullPath(windowed)).toEqual([user("root")]);
      expect(rows("SELECT count(*) AS n FROM assistant_messages")).toEqual([{ n: 42 }]);
    }));

  it("reads nothing for old messages that a client repeats a second time", () =>
    onNewObject(async ({ wake, cost }) => {
      const list = dialogue(100, 1_000);
      wake().conversation.append(list);
      const { conversation } = wake({ hydrationByteBudget: 5_000 });
      conversation.receive(list);
      const again = await cost(() => conversation.receive([...list, user("new")]));
      expect(again.totalWritten).toBe(2);
      expect(again.totalRead).toBeLessThanOrEqual(3);
    }));

  it("skips rows that are no messages and goes on behind them", () =>
    onNewObject(({ wake, sql }) => {
      wake().conversation.append(dialogue(6));
      sql.exec("UPDATE assistant_messages SET content = 'not json' WHERE id = 'm2'");
      sql.exec(
        `UPDATE assistant_messages SET content = '{"id":"m5","role":"user","parts":[null]}' WHERE id = 'm5'`
      );
      const { conversation } = wake();
      expect(ids(conversation.messages)).toEqual(["m0", "m1", "m3", "m4"]);
      conversation.append([user("new")]);
      expect(ids(wake().conversation.messages)).toEqual(["m0", "m1", "m3", "m4", "new"]);
      expect(ids(fullPath(wake({ hydrationByteBudget: 1 }).conversation))).toEqual([
        "m0",
        "m1",
        "m3",
        "m4",
        "new"
      ]);
    }));

  it("survives a path that runs in a circle", () =>
    onNewObject(({ wake, sql }) => {
      wake().conversation.append(dialogue(6, 1_000));
      sql.exec("UPDATE assistant_messages SET parent_id = 'm3' WHERE id = 'm0'");
      expect(ids(wake().conversation.messages)).toHaveLength(6);
      expect(ids(wake({ hydrationByteBudget: 3_000 }).conversation.messages)).toEqual([
        "m2",
        "m3",
        "m4",
        "m5"
      ]);
    }));
});

describe("what reading costs", () => {
  it.each([10, 500, 1_000])(
    "a wake with %s messages reads about one row each, in a few statements",
    (count) =>
      onNewObject(async ({ wake, cost }) => {
        const list = dialogue(count);
        wake().conversation.append(list);
        const counts = await cost(() => expect(ids(wake().conversation.messages)).toEqual(ids(list)));
        expect(counts.totalRead).toBeLessThanOrEqual(count + 40);
        expect(counts.statements).toBeLessThanOrEqual(3);
        expect(counts.totalWritten).toBe(0);
      })
  );

  it("a wake with more than fits reads the window only", () =>
    onNewObject(async ({ wake, cost }) => {
      wake().conversation.append(dialogue(2_000, 1_000));
      const counts = await cost(() => wake({ hydrationByteBudget: 110_000 }).conversation.messages);
      expect(counts.totalRead).toBeLessThanOrEqual(2 * 100 + 10);
    }));

  it("an object that only looks makes no message table", () =>
    onNewObject(async ({ wake, rows }) => {
      expect(wake().conversation.messages).toEqual([]);
      expect(rows("SELECT name FROM sqlite_master WHERE name = 'assistant_messages'")).toEqual([]);
    }));

  it("no statement scans the message table", () =>
    onNewObject(async ({ wake, cost, rows }) => {
      const list = dialogue(60, 1_000);
      const { bySql } = await cost(() => {
        const first = wake().conversation;
        first.append(list);
        first.update(user("m0", "edited"));
        const { conversation } = wake({ hydrationByteBudget: 5_000 });
        conversation.receive([...list, answer("optimistic"), user("new")]);
        conversation.put(answer("branch"), "m4");
        conversation.withToolCall("nowhere");
        fullPath(conversation);
        conversation.upTo("m2");
        conversation.clear();
      });
      const statements = bySql
        .map(({ sql }) => sql)
        .filter((sql) => /(?:FROM|JOIN|INTO|UPDATE) assistant_messages/.test(sql));
      expect(statements.length).toBeGreaterThanOrEqual(7);
      for (const statement of statements) {
        const numbered = [...statement.matchAll(/\?(\d+)/g)].map((match) => Number(match[1]));
        const bindings = Array.from(
          { length: numbered.length > 0 ? Math.max(...numbered) : statement.split("?").length - 1 },
          () => null
        );
        const plan = rows(`EXPLAIN QUERY PLAN ${statement}`, ...bindings).map(({ detail }) => String(detail));
        const scans = plan.filter((detail) => /^SCAN (?:assistant_messages|m\d*|child)\b/.test(detail));
        // An empty table is recognised by its first row; legacy data is adopted once.
        if (!statement.includes("LIMIT 1")) expect({ statement, scans }).toEqual({ statement, scans: [] });
      }
    }));
});

describe("§11 a database of the published package", () => {
  const legacyTable = `CREATE TABLE assistant_messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL DEFAULT '', parent_id TEXT,
    role TEXT NOT NULL, content TEXT NOT NULL, created_at DATETIME DEFAULT CURRENT_TIMESTAMP)`;

  it("is read from its latest leaf, which is found once, and goes on from there", () =>
    onNewObject(async ({ wake, sql, rows, cost }) => {
      sql.exec(legacyTable);
      sql.exec("CREATE INDEX idx_assistant_msg_parent ON assistant_messages (parent_id)");
      sql.exec("CREATE INDEX idx_assistant_msg_session ON assistant_messages (session_id)");
      const insert = (message: UIMessage, parent: string | null, at: string, session = "") =>
        sql.exec(
          "INSERT INTO assistant_messages (id, session_id, parent_id, role, content, created_at) VALUES (?, ?, ?, ?, ?, ?)",
          ...[message.id, session, parent, message.role, JSON.stringify(message), at]
        );
      insert(user("u1"), null, "2026-01-01 10:00:00");
      insert(answer("zz-first"), "u1", "2026-01-01 10:00:05");
      insert(answer("aa-second"), "u1", "2026-01-01 10:00:05");
      insert(user("other"), null, "2026-01-02 10:00:00", "another session");

      const { conversation } = wake();
      expect(conversation.messages).toEqual([user("u1"), answer("aa-second")]);
      conversation.receive([user("u1"), answer("aa-second"), user("u2")]);
      const again = await cost(() =>
        expect(ids(wake().conversation.messages)).toEqual(["u1", "aa-second", "u2"])
      );
      expect(again.statements).toBe(3);
      const index = rows(
        "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'assistant_messages' AND sql IS NOT NULL"
      );
      expect(index).toEqual([]);
      const turn = await cost(() => conversation.append([answer("a2")]));
      // The text key of the old layout is an index of its own.
      expect(turn.totalWritten).toBe(3);
    }));

  it("with an empty message table is an empty conversation", () =>
    onNewObject(({ wake, sql }) => {
      sql.exec(legacyTable);
      expect(wake().conversation.messages).toEqual([]);
      wake().conversation.append([user("u")]);
      expect(wake().conversation.messages).toEqual([user("u")]);
    }));

  it("has its settings copied once, when the new table is made, and never overwritten", () =>
    onNewObject(async ({ wake, sql, cost }) => {
      sql.exec(
        "CREATE TABLE assistant_config (session_id TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (session_id, key))"
      );
      sql.exec(
        "INSERT INTO assistant_config VALUES ('', '_think_config', '{\"theme\":\"dark\"}'), ('s', 'lastBody', '1'), ('', 'broken', '{')"
      );
      const { config } = wake();
      expect(config.get("_think_config")).toEqual({ theme: "dark" });
      expect(config.get("lastBody")).toBeNull();
      expect(config.get("broken")).toBeNull();
      config.set("_think_config", { theme: "light" });
      const later = wake().config;
      const { bySql } = await cost(() => expect(later.get("_think_config")).toEqual({ theme: "light" }));
      expect(bySql.map((entry) => entry.sql)).toEqual(["SELECT value FROM think_config WHERE key = ?"]);
    }));

  it("of a layout without sessions is left alone", () =>
    onNewObject(({ wake, sql }) => {
      sql.exec("CREATE TABLE assistant_config (key TEXT PRIMARY KEY, value TEXT)");
      sql.exec("INSERT INTO assistant_config VALUES ('_think_config', '1')");
      expect(wake().config.get("_think_config")).toBeNull();
    }));
});

describe("settings", () => {
  it("that were rolled back are read anew", () =>
    onNewObject(({ wake, sql }) => {
      const { config } = wake();
      config.set("a", 1);
      const failing = () =>
        sql.transaction(() => {
          config.set("a", 2);
          throw new Error("no");
        });
      expect(failing).toThrow("no");
      config.refresh();
      expect(config.get("a")).toBe(1);
    }));

  it("can be made in a transaction that is rolled back, and again afterwards", () =>
    onNewObject(({ wake, sql }) => {
      const { config } = wake();
      const failing = () =>
        sql.transaction(() => {
          config.set("a", 2);
          throw new Error("no");
        });
      expect(failing).toThrow("no");
      config.refresh();
      expect(config.get("a")).toBeNull();
      config.set("a", 3);
      expect(wake().config.get("a")).toBe(3);
    }));
});
