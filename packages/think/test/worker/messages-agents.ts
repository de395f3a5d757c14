/**
 * The conversation on a real Durable Object's SQLite, without an agent around it: what the `messages-*` tests work on. Each opening is
 * like a wake of the object; several may follow each other on the same storage.
 */
import type { UIMessage } from "ai";
import { env } from "cloudflare:workers";
import { countRows, fakeClock, runInAgent, type FakeClock, type RowCounts } from "@cloudflare/think/testing";
import type { ChatEvents } from "../../src/observability/events";
import { createConversation, type Conversation } from "../../src/session/conversation";
import type { MediaEvictionSetting } from "../../src/session/media-settings";
import { createMessageStore } from "../../src/session/message-store";
import { SessionStore } from "../../src/session/session-store";
import { createConfigStore, type ConfigStore } from "../../src/storage/config-store";
import type { Sql } from "../../src/storage/sql";
import type { BareAgent, ChatAgent } from "./chat-agents";

declare global {
  namespace Cloudflare {
    interface Env {
      readonly BareAgent: DurableObjectNamespace<BareAgent>;
      readonly ChatAgent: DurableObjectNamespace<ChatAgent>;
    }
  }
}

export interface WakeOptions {
  /** Called at the end of each transaction; a throw makes it fail. */
  readonly commit?: () => void;
  readonly hydrationByteBudget?: number;
  readonly mediaEviction?: MediaEvictionSetting;
  /** Called for each file; may fail. Null: the agent has no workspace. */
  readonly write?: ((path: string, content: string) => void | Promise<void>) | null;
}

/** One life of the object. */
export interface Life {
  readonly conversation: Conversation;
  readonly config: ConfigStore;
  readonly clock: FakeClock;
  readonly events: readonly { readonly type: keyof ChatEvents; readonly payload: unknown }[];
  readonly files: ReadonlyMap<string, string>;
}

export interface Desk {
  readonly storage: DurableObjectStorage;
  readonly sql: Sql;
  wake(options?: WakeOptions): Life;
  /** The cost of `work`, background work that the clock starts included. */
  cost(work: () => unknown): Promise<RowCounts>;
  rows(statement: string, ...bindings: unknown[]): Record<string, unknown>[];
}

let objects = 0;

/** Runs `work` inside a new object. */
export async function onNewObject<Result>(work: (desk: Desk) => Result | Promise<Result>): Promise<Result> {
  objects += 1;
  const stub = env.BareAgent.getByName(`messages-${objects}`);
  return runInAgent(stub, (_agent, state) => {
    const { storage } = state;
    const sql: Sql = {
      exec: (statement, ...bindings) => storage.sql.exec(statement, ...bindings).toArray() as never,
      transaction: (inner) => storage.transactionSync(inner)
    };
    return work({
      storage,
      sql,
      wake: (options) => wake(sql, options),
      cost: (inner) => countRows(storage, inner),
      rows: (statement, ...bindings) => storage.sql.exec(statement, ...bindings).toArray()
    });
  });
}

/** Loads the Worker, which takes seconds on a busy machine; call it before the first test so that no test pays for it. */
export async function loadWorker(): Promise<void> {
  await onNewObject(() => undefined);
}

function wake(
  storage: Sql,
  { hydrationByteBudget, mediaEviction = false, write, commit }: WakeOptions = {}
): Life {
  const sql: Sql = {
    exec: storage.exec,
    transaction: (work) =>
      storage.transaction(() => {
        const result = work();
        commit?.();
        return result;
      })
  };
  const clock = fakeClock();
  const events: { type: keyof ChatEvents; payload: unknown }[] = [];
  const files = new Map<string, string>();
  const config = createConfigStore(sql);
  const conversation = createConversation({
    sql,
    config,
    store: createMessageStore({ sql, now: () => clock.now() }),
    sessions: new SessionStore(sql, () => clock.now()),
    emit: (type, payload) => void events.push({ type, payload }),
    ...(hydrationByteBudget === undefined ? {} : { hydrationByteBudget: () => hydrationByteBudget }),
    media: {
      clock,
      setting: () => mediaEviction,
      files: () =>
        write === null
          ? undefined
          : {
              read: async (path) => files.get(path) ?? null,
              async write(path, content) {
                await write?.(path, content);
                files.set(path, content);
              }
            }
    }
  });
  return { conversation, config, clock, events, files };
}

export const user = (id: string, text = `question ${id}`): UIMessage => ({
  id,
  role: "user",
  parts: [{ type: "text", text }]
});

export const answer = (id: string, text = `answer ${id}`): UIMessage => ({
  id,
  role: "assistant",
  parts: [{ type: "text", text, state: "done" }]
});

/** `count` messages, users and answers in turn, each of about `chars` characters. */
export function dialogue(count: number, chars = 20, prefix = "m"): UIMessage[] {
  return Array.from({ length: count }, (_, index) => {
    const make = index % 2 === 0 ? user : answer;
    return make(`${prefix}${index}`, `${index} `.padEnd(chars, "x"));
  });
}

export const ids = (messages: readonly UIMessage[]): string[] => messages.map(({ id }) => id);

/** The whole path, oldest first, whatever is in memory. */
export const fullPath = (conversation: Conversation): UIMessage[] =>
  [...conversation.newestFirst()].toReversed();
