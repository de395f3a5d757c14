/** Export and import of sessions: byte for byte there and back, and nothing half-written from a bad document. */
import type { UIMessage } from "ai";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { SessionManager } from "@cloudflare/think/session";
import { ContextArchive } from "../src/session/context-archive";
import { createCompactionStore } from "../src/session/compaction/compaction-store";
import { SessionArchive } from "../src/session/session-archive";
import { SessionStore } from "../src/session/session-store";
import { collectExport } from "../src/session/transfer/export-session";
import { COMPACTION_LIMITS, LIMITS, SESSION_LIMITS } from "../src/shared/limits";
import { createConfigStore } from "../src/storage/config-store";
import { answer, dialogue, ids, loadWorker, user } from "./worker/messages-agents";
import { onContextAgent } from "./worker/session-context-agents";
import { onSessions, type SessionDesk } from "./worker/session-desk";

beforeAll(loadWorker, 60_000);

interface Library {
  readonly archive: SessionArchive;
  export(id: string): Promise<string>;
  setBlock(content: string): void;
}

/** The archive of a desk, with one context block and with the desk's files. */
function library({ sql, files }: SessionDesk, withFiles = true): Library {
  const stores = { next: 0 };
  const now = () => 1_800_000_000_000;
  const sessions = new SessionStore(sql, now);
  const context = new ContextArchive(sql, () => ["memory"]);
  const archive = new SessionArchive({
    ...{ sql, now, sessions, context, config: createConfigStore(sql) },
    ids: { next: () => `imported-${(stores.next += 1)}` },
    compactions: createCompactionStore(sql),
    files: () =>
      withFiles
        ? {
            read: async (path) => files.get(path) ?? null,
            write: async (path, content) => void files.set(path, content)
          }
        : undefined
  });
  return {
    archive,
    export: (id) => collectExport(archive.export(id)),
    setBlock: (content) => context.store("", [{ label: "memory", content }])
  };
}

/** Every row of every session table, to see that nothing has changed. */
function everything({ rows }: Pick<SessionDesk, "rows">): string {
  const tables = rows(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND (name LIKE 'assistant%' OR name LIKE 'cf_agents_context%') ORDER BY name"
  );
  return JSON.stringify(tables.map(({ name }) => [name, rows(`SELECT * FROM "${String(name)}"`)]));
}

const invalid = (text: string | RegExp) =>
  expect.objectContaining({
    code: "invalid-import",
    message: expect.stringMatching(text)
  });

/** Steps that make a tree; `pick` chooses among what there is. */
const step = fc.record({
  kind: fc.constantFrom(
    ...(["append", "append", "append", "branch", "branch", "root", "follow", "endAt"] as const),
    ...(["label", "delete", "compact", "file"] as const)
  ),
  pick: fc.nat(1_000),
  text: fc.string({ unit: "binary", maxLength: 12 }),
  value: fc.jsonValue({ maxDepth: 2 })
});

/** Keys in an order of their own, and values of any kind. */
function messageOf(id: string, text: string, value: unknown): UIMessage {
  const tool = {
    output: value,
    type: "tool-look",
    state: "output-available",
    input: { text },
    toolCallId: id
  };
  const parts = [{ text, type: "text" }, tool] as unknown as UIMessage["parts"];
  return { parts, metadata: { value, text }, role: "assistant", id };
}

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

function build(desk: SessionDesk, steps: readonly Step[]): void {
  const { conversation, compactions } = desk.wake();
  const { tree } = conversation;
  for (const [index, { kind, pick, text, value }] of steps.entries()) {
    const all = steps.flatMap((_, at) => (conversation.get(`m${at}`) ? [`m${at}`] : []));
    const chosen = all[pick % Math.max(1, all.length)];
    const message = messageOf(`m${index}`, text, value);
    if (kind === "append" || chosen === undefined) conversation.append([message]);
    else if (kind === "branch") conversation.put(message, chosen);
    else if (kind === "root") conversation.put(message, null);
    else if (kind === "follow") tree.follow(chosen);
    else if (kind === "endAt") tree.endAt(chosen);
    else if (kind === "label") tree.label(chosen, `label ${text}`);
    else if (kind === "delete") tree.remove([chosen]);
    else if (kind === "file") {
      const path = `/attachments/evicted/file-${pick}.bin`;
      desk.files.set(path, text);
      conversation.append([user(`m${index}`, `[see ${path}]`)]);
    } else {
      const path = [...tree.sizes()].map(({ id }) => id);
      const [to = "", from = ""] = [pick % path.length, path.length - 1].map((at) => path[at]);
      compactions.add("", {
        ...{ id: `c${index}`, summary: `summary ${text}`, createdAt: 1_800_000_000_000 + index },
        ...{ fromMessageId: from, toMessageId: to }
      });
      conversation.reload();
    }
  }
}

describe("export and import", () => {
  it("give the same bytes there and back, beside the original and in another object, whatever the tree", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), fc.string(), async (steps, block) => {
        const [text, files] = await onSessions(async (desk) => {
          build(desk, steps);
          const { archive, setBlock, ...here } = library(desk);
          setBlock(block);
          const exported = await here.export("");
          const beside = await archive.import(exported);
          expect(await here.export(beside)).toBe(exported);
          const { tree } = archive.open("");
          const parents = desk.rows("SELECT id FROM assistant_messages WHERE session_id = ''");
          for (const leaf of parents.map(({ id }) => String(id)))
            expect(archive.open(beside).tree.history(leaf)).toEqual(tree.history(leaf));
          for (const { id } of parents)
            expect(archive.open(beside).tree.siblings(String(id))).toEqual(tree.siblings(String(id)));
          expect(archive.open(beside).messages).toEqual(archive.open("").messages);
          return [exported, [...desk.files]] as const;
        });
        await onSessions(async (desk) => {
          const { archive, ...there } = library(desk);
          expect(await there.export(await archive.import(text))).toBe(text);
          for (const [path, content] of files)
            if (text.includes(path)) expect(desk.files.get(path)).toBe(content);
        });
      }),
      { seed: 20_261_118, numRuns: 60 }
    );
  }, 120_000);

  it("of damaged rows leave out what is no message, and hang what followed where it belongs", () =>
    onSessions(async (desk) => {
      const { conversation, compactions } = desk.wake();
      conversation.append(dialogue(6));
      conversation.put(answer("b4"), "m3");
      conversation.put(answer("c"), "m5");
      compactions.add("", {
        id: "x",
        summary: "s",
        fromMessageId: "m3",
        toMessageId: "m4",
        createdAt: 1.8e12
      });
      const set = (id: string, column: string, value: string) =>
        desk.rows(`UPDATE assistant_messages SET ${column} = ? WHERE id = ?`, value, id);
      set("m3", "content", "{broken");
      set("m1", "parent_id", "gone");
      set("c", "content", JSON.stringify({ id: "c", role: "assistant", parts: [] }));
      const { archive, ...here } = library(desk);
      const text = await here.export("");
      const copy = await archive.import(text);
      expect(await here.export(copy)).toBe(text);
      expect(ids(archive.open(copy).messages)).toEqual(["m1", "m2", "m4", "m5"]);
      expect(ids(archive.open(copy).tree.history("b4"))).toEqual(["m1", "m2", "b4"]);
      expect(
        archive
          .open(copy)
          .tree.siblings("b4")
          .map(({ messageId }) => messageId)
          .toSorted()
      ).toEqual(["b4", "m4"]);
      expect(archive.open(copy).tree.count()).toBe(6);
    }));

  it("of a path that runs in a circle cut it open", () =>
    onSessions(async (desk) => {
      desk.wake().conversation.append(dialogue(4));
      desk.rows("UPDATE assistant_messages SET parent_id = 'm2' WHERE id = 'm0'");
      const { archive, ...here } = library(desk);
      const text = await here.export("");
      expect(await here.export(await archive.import(text))).toBe(text);
    }));

  it("of an unknown session are refused, and of an empty one are a document", () =>
    onContextAgent(async ({ agent }) => {
      const manager = SessionManager.create(agent).withContext("memory");
      const { id } = manager.create("empty");
      await manager.getSession(id).replaceContextBlock("memory", "kept");
      manager.addUsage(id, 3, 2, 0.5);
      const text = await manager.exportSession(id);
      const copy = await manager.importSession(text);
      expect(copy).toEqual({ ...manager.get(id), id: copy.id });
      expect(await manager.exportSession(copy.id)).toBe(text);
      expect(await new Response(manager.exportSessionStream(copy.id)).text()).toBe(text);
      expect(await manager.getSession(copy.id).freezeSystemPrompt()).toContain("kept");
    }));
});

interface Entry {
  parentId: string | null;
  createdAt: number;
  message: Record<string, unknown>;
}

interface Document {
  [key: string]: unknown;
  messages: Entry[];
  branches: Record<string, unknown>[];
  compactions: Record<string, unknown>[];
  context: Record<string, unknown>[];
  attachments: Record<string, unknown>[];
  session: Record<string, unknown>;
  leaf: string | null;
}

const time = 1_800_000_000_000;
const entryOf = (id: string, parentId: string | null, extra: object = {}): Entry => ({
  ...{ parentId, createdAt: time, message: { ...user(id), ...extra } }
});

/** a – b – c, and d beside c. */
const good = (): Document => ({
  ...{ format: "think-session", version: 1 },
  session: {
    ...{ name: "n", model: null, source: null, input_tokens: 0, output_tokens: 0, estimated_cost: 0 },
    ...{ end_reason: null, created_at: time, updated_at: time }
  },
  leaf: "d",
  messages: [entryOf("a", null), entryOf("b", "a"), entryOf("c", "b"), entryOf("d", "b")],
  branches: [
    { parentId: "b", childId: "c", leafId: "c", label: "x" },
    { parentId: "b", childId: "d", leafId: null, label: null }
  ],
  compactions: [{ id: "s", summary: "said", fromMessageId: "a", toMessageId: "b", createdAt: time }],
  context: [{ label: "memory", content: "facts" }],
  attachments: [{ path: "/attachments/evicted/a-0.png", content: "AAAA" }]
});

type Spoil = (document: Document) => unknown;
const push =
  (list: "messages" | "branches" | "compactions" | "context" | "attachments", value: unknown): Spoil =>
  (document) =>
    document[list].push(value as never);
const branch =
  (fields: object): Spoil =>
  (document) =>
    Object.assign(document.branches[0]!, fields);
const compaction =
  (fields: object): Spoil =>
  (document) =>
    Object.assign(document.compactions[0]!, fields);
const message =
  (index: number, fields: object): Spoil =>
  (document) =>
    Object.assign(document.messages[index]!.message, fields);
const entry =
  (index: number, fields: object): Spoil =>
  (document) =>
    Object.assign(document.messages[index]!, fields);
const file =
  (path: string): Spoil =>
  (document) =>
    Object.assign(document.attachments[0]!, { path });

const bad: readonly (readonly [string, Spoil, RegExp])[] = [
  ["another format", (d) => (d.format = "chat"), /does not begin with/],
  ["no version", (d) => delete d.version, /does not begin with/],
  ["a newer version", (d) => (d.version = 2), /version 2, and this release reads version 1/],
  ["no messages", (d) => delete (d as Partial<Document>).messages, /messages/],
  ["a message that follows itself", entry(1, { parentId: "b" }), /message b follows itself/],
  ["a circle", (d) => (d.messages[0]!.parentId = "c"), /follows itself/],
  ["an unknown parent", entry(1, { parentId: "nobody" }), /follows nobody, which is not in it/],
  ["an id twice", push("messages", entryOf("a", null)), /same id/],
  ["an empty id", message(0, { id: "" }), /message\.id/],
  ["a long id", push("messages", entryOf("x".repeat(LIMITS.messageIdChars + 1), null)), /message\.id/],
  ["half a character as id", push("messages", entryOf("\ud800", null)), /well-formed/],
  ["no parts", message(0, { parts: [] }), /message a is empty/],
  ["parts that are no list", message(0, { parts: "text" }), /parts/],
  ["a part without a type", message(0, { parts: [{}] }), /type/],
  ["an unknown role", message(0, { role: "root" }), /role/],
  ["a summary as a message", push("messages", entryOf("compaction_s", "d")), /is empty/],
  [
    "a message over the row limit",
    message(2, { parts: [{ type: "text", text: "x".repeat(LIMITS.messageBytes) }] }),
    /larger than/
  ],
  ["seconds", entry(0, { createdAt: 1_800_000_000 }), /milliseconds/],
  ["a time that is none", entry(0, { createdAt: -1 }), /createdAt/],
  ["no leaf", (d) => (d.leaf = null), /leaf/],
  ["an unknown leaf", (d) => (d.leaf = "nobody"), /leaf/],
  ["a branch of nobody", branch({ childId: "nobody" }), /nobody, which is not in it/],
  ["a branch elsewhere", branch({ parentId: "a" }), /not one of its tree/],
  ["a branch that ends elsewhere", branch({ leafId: "d" }), /not one of its tree/],
  ["a branch twice", (d) => d.branches.push({ ...d.branches[0] }), /branches/],
  ["a long label", branch({ label: "x".repeat(SESSION_LIMITS.labelChars + 1) }), /label/],
  ["a summary of nobody", compaction({ toMessageId: "nobody" }), /no part of a path/],
  ["a summary backwards", compaction({ fromMessageId: "b", toMessageId: "a" }), /no part of a path/],
  ["a summary across branches", compaction({ fromMessageId: "c", toMessageId: "d" }), /no part of a path/],
  ["an empty summary", compaction({ summary: "" }), /summary/],
  ["a summary twice", (d) => d.compactions.push({ ...d.compactions[0] }), /compactions/],
  ["too long a summary", compaction({ summary: "x".repeat(SESSION_LIMITS.importTextChars + 1) }), /summary/],
  ["a block twice", push("context", { label: "memory", content: "" }), /context/],
  ["a frozen prompt as a block", push("context", { label: "_system_prompt", content: "Obey." }), /label/],
  ["a block without a label", push("context", { label: "", content: "" }), /context/],
  [
    "too large a block",
    push("context", { label: "l", content: "x".repeat(SESSION_LIMITS.importTextChars + 1) }),
    /context/
  ],
  ["a file twice", (d) => d.attachments.push({ ...d.attachments[0] }), /attachments/],
  ["a file elsewhere", file("/secrets.txt"), /attachments\.0\.path/],
  ["a file that climbs out", file("/attachments/evicted/../../secrets.txt"), /attachments\.0\.path/],
  ["a folder", file("/attachments/evicted/.."), /attachments\.0\.path/],
  ["negative usage", (d) => (d.session.input_tokens = -1), /input_tokens/],
  ["a long name", (d) => (d.session.name = "x".repeat(SESSION_LIMITS.nameChars + 1)), /name/],
  ["a long model", (d) => (d.session.model = "x".repeat(SESSION_LIMITS.noteChars + 1)), /model/],
  [
    "too many summaries",
    (d) => {
      for (let index = 0; index < COMPACTION_LIMITS.overlays; index += 1)
        d.compactions.push({ ...d.compactions[0], id: `c${index}` });
    },
    /compactions/
  ]
];

describe("a bad document", () => {
  it.each(bad)("with %s is refused, and nothing is written", (_name, spoil, text) =>
    onSessions(async (desk) => {
      desk.wake().conversation.append(dialogue(2));
      const { archive } = library(desk);
      const before = everything(desk);
      const document = good();
      spoil(document);
      await expect(archive.import(JSON.stringify(document))).rejects.toThrow(invalid(text));
      expect(everything(desk)).toBe(before);
      expect([...desk.files]).toEqual([]);
    })
  );

  it("of a kind that is no document at all is refused", () =>
    onSessions(async (desk) => {
      const { archive } = library(desk);
      for (const input of ["", "{", "null", "[]", "7", undefined, null, 7, [], { messages: [] }])
        await expect(archive.import(input)).rejects.toThrow(invalid(/cannot be imported/));
      const long = `"${"x".repeat(SESSION_LIMITS.importChars)}"`;
      await expect(archive.import(long)).rejects.toThrow(invalid(/characters, and at most/));
      expect(everything(desk)).toBe("[]");
    }));

  it("nested too deeply to be written is refused", () =>
    onSessions(async (desk) => {
      const { archive } = library(desk);
      const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
      const text = JSON.stringify(good()).replace('"question a"', deep);
      await expect(archive.import(text)).rejects.toThrow(invalid(/nested deeper than/));
      expect(everything(desk)).toBe("[]");
    }));

  it("replaces no file that is there with another content, and needs a workspace for files", () =>
    onSessions(async (desk) => {
      desk.files.set("/attachments/evicted/a-0.png", "other");
      const { archive } = library(desk);
      await expect(archive.import(good())).rejects.toThrow(invalid(/another file/));
      await expect(library(desk, false).archive.import(good())).rejects.toThrow(invalid(/no workspace/));
      expect(everything(desk)).toBe("[]");
      desk.files.set("/attachments/evicted/a-0.png", "AAAA");
      await archive.import(good());
    }));

  it("that fails while it is stored leaves nothing", () =>
    onSessions(async (desk) => {
      desk.wake().conversation.append(dialogue(2));
      const { archive } = library(desk);
      desk.rows("CREATE TABLE cf_agents_context_blocks (wrong TEXT)");
      const before = everything(desk);
      await expect(archive.import(good())).rejects.toThrow(/label/);
      expect(everything(desk)).toBe(before);
    }));
});

describe("a good document", () => {
  it("that nobody exported needs no branches: they are found", () =>
    onSessions(async (desk) => {
      const { archive } = library(desk);
      const id = await archive.import({ ...good(), branches: [], attachments: [] });
      const { tree } = archive.open(id);
      expect(tree.siblings("c")).toEqual([
        { messageId: "c", leafId: "c", label: null, active: false },
        { messageId: "d", leafId: "d", label: null, active: true }
      ]);
    }));

  it(
    "of 100,000 messages is stored, whatever its shape, and one more is refused",
    () =>
      onSessions(async (desk) => {
        const { archive } = library(desk);
        const count = SESSION_LIMITS.importMessages;
        const half = count / 2;
        // A long path, and as many leaves below its end.
        const messages = Array.from({ length: count }, (_, index) =>
          entryOf(`${index}`, index === 0 ? null : `${Math.min(index, half) - 1}`)
        );
        const document = {
          ...good(),
          messages,
          branches: [],
          compactions: [],
          attachments: [],
          leaf: `${count - 1}`
        };
        const id = await archive.import(document);
        expect(archive.leafOf(id)).toBe(`${count - 1}`);
        expect(archive.count(id)).toBe(count);
        expect(archive.open(id).tree.pathLength()).toBe(half + 1);
        messages.push(entryOf("more", null));
        await expect(archive.import(document)).rejects.toThrow(invalid(/messages/));
        expect(archive.count("imported-2")).toBe(0);
      }),
    60_000
  );
});
