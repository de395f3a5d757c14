/** What the session tests share: an agent with a lab, several clients, and short forms of what is stored. */
import type { UIMessage } from "ai";
import { env, exports } from "cloudflare:workers";
import {
  connectChat,
  runInAgent,
  scriptedModel,
  type ChatClient,
  type Script
} from "@cloudflare/think/testing";
import { expect, vi } from "vitest";
import { openLab, type LabSettings } from "./worker/recovery-agents";
import { openSessions, type SessionAgent, type SessionSettings } from "./worker/session-agents";

let counter = 0;

/** Over RPC the compiler takes messages, which may hold anything, for values that cannot pass. They can. */
type SessionStub = Pick<
  SessionAgent,
  "getMessages" | "getHistory" | "getMessagesBefore" | "switchSession" | "switchBranch" | "setActiveLeaf"
> &
  DurableObjectStub<SessionAgent>;

export interface SessionLab extends Partial<LabSettings> {
  readonly configure?: NonNullable<SessionSettings["configure"]>;
  readonly hydrationByteBudget?: number;
}

export function newSessions(script: Script, { configure, hydrationByteBudget, ...lab }: SessionLab = {}) {
  const name = `sessions-${(counter += 1)}-${crypto.randomUUID()}`;
  const model = scriptedModel(script);
  const opened = openLab(name, { model, ...lab });
  const sessions = openSessions(name, {
    ...(configure ? { configure } : {}),
    ...(hydrationByteBudget === undefined ? {} : { hydrationByteBudget })
  });
  const object = () => env.SessionAgent.getByName(name);
  const stub = () => object() as SessionStub;
  const connect = () => connectChat(exports.default, { agent: "SessionAgent", name });
  return {
    ...{ name, model, lab: opened, sessions, stub, connect },
    /** Runs inside the object, which a call starts first if it sleeps: looking inside does not. */
    on: async <Result>(
      work: (agent: SessionAgent, state: DurableObjectState) => Result | Promise<Result>
    ) => {
      await stub().degradations();
      return runInAgent(object(), work);
    },
    /** How each call is refused, one after the other; null for one that is not. Inside, because a rejection on its way out is told twice. */
    refusals: (...calls: ((agent: SessionAgent) => Promise<unknown>)[]) =>
      runInAgent(object(), async (agent) => {
        const outcomes: (string | null)[] = [];
        for (const call of calls) outcomes.push(await call(agent).then(() => null, String));
        return outcomes;
      }),
    rows: (statement: string, ...bindings: unknown[]) =>
      runInAgent(object(), (_agent, { storage }) => storage.sql.exec(statement, ...bindings).toArray()),
    events: (type: string) =>
      opened.events.filter((event) => event.type === type).map(({ payload }) => payload),
    /** Waits until recovery has said this. */
    recovered: (type: string) =>
      vi.waitFor(() => expect(opened.events.map((event) => event.type)).toContain(`chat:recovery:${type}`)),
    /** The route of a list over HTTP. */
    getMessages: (sessionId?: string) =>
      exports.default.fetch(
        `https://agent.test/agents/session-agent/${name}/get-messages${sessionId === undefined ? "" : `?sessionId=${encodeURIComponent(sessionId)}`}`
      )
  };
}

/** What is said, without markers of steps. */
export function said(messages: readonly UIMessage[]): string[] {
  return messages.map(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")).join(""));
}

/** Waits until the client has been sent a list in which exactly this is said. */
export async function shows(client: ChatClient, texts: readonly string[], from = 0): Promise<void> {
  const wanted = JSON.stringify(texts);
  await client.waitFor(
    (frame) =>
      frame.type === "cf_agent_chat_messages" && JSON.stringify(said(frame.messages ?? [])) === wanted,
    { from, wanted: `the list ${wanted}` }
  );
}
