/** What the client-tool tests share: a fresh agent, and the handshake by which a client follows a continuation. */
import { env, exports } from "cloudflare:workers";
import {
  connectChat,
  runInAgent,
  scriptedModel,
  type ChatClient,
  type ReceivedFrame,
  type Script
} from "@cloudflare/think/testing";
import type { UIMessage } from "ai";
import { expect, vi } from "vitest";
import { LIMITS } from "../src/shared/limits";
import { endlessTimers } from "./time-support";
import { useClientToolsModel } from "./worker/client-tools-agents";

export const CLIENT_TOOLS = [{ name: "a" }, { name: "b" }, { name: "c" }];

let counter = 0;

/** @param id - of the first tab's connection; a random one unless given. */
export async function newChat(script: Script, id?: string) {
  const name = `client-tools-${(counter += 1)}`;
  const model = scriptedModel(script);
  useClientToolsModel(name, model);
  const connect = (as?: string) =>
    connectChat(exports.default, { agent: "ClientToolsAgent", name, ...(as ? { query: { _pk: as } } : {}) });
  const stub = () => env.ClientToolsAgent.getByName(name);
  const client = await connect(id);
  return {
    ...{ name, model, connect, stub, client },
    /** Sends a message, with the client's tools, and waits for the end of the turn. */
    ask: (text: string) => client.chat(text, { clientTools: CLIENT_TOOLS, body: { page: 1 } }).done,
    /** Closes a socket and waits until the agent knows: the client's end is confirmed before the agent is told. */
    leave: async (tab: ChatClient) => {
      const closes = () => runInAgent(stub(), (agent) => agent.closes);
      const before = await closes();
      await tab.close();
      await vi.waitFor(async () => expect(await closes()).toBe(before + 1));
    },
    /** What the agent recorded since it was last started. */
    record: () =>
      runInAgent(stub(), ({ responses, errors, events, executed }) => ({
        continuations: responses.filter((response) => response.continuation).length,
        ...{ responses: [...responses], errors: [...errors], events: [...events], executed: [...executed] }
      }))
  };
}

/** A continuation as the client that accepted it sees it, from its replay on. */
export interface Followed {
  readonly id: string;
  readonly done: Promise<{
    readonly text: string;
    readonly error: string | undefined;
    readonly frames: readonly ReceivedFrame[];
  }>;
  waitForText(text: string): Promise<void>;
}

/** Waits for the offer of a stream at or after a position, accepts it and follows it. */
export async function followContinuation(client: ChatClient, from = 0): Promise<Followed> {
  const offer = await client.waitFor("cf_agent_stream_resuming", { from });
  return accept(client, offer.id ?? "");
}

/** The live stream may end before the acknowledgement arrives, so only what comes from the replay on counts. */
export async function accept(client: ChatClient, id: string): Promise<Followed> {
  const acknowledged = client.frames.length;
  client.send({ type: "cf_agent_stream_resume_ack", id });
  const first = await client.waitFor({ id, replay: true }, { from: acknowledged });
  const start = client.frames.indexOf(first, acknowledged);
  const frames = () =>
    client.frames.slice(start).filter((frame) => frame.id === id && frame.type === first.type);
  const textSoFar = () =>
    frames()
      .map((frame) =>
        frame.error || !frame.body ? {} : (JSON.parse(frame.body) as { type?: string; delta?: string })
      )
      .map((chunk) => (chunk.type === "text-delta" ? chunk.delta : ""))
      .join("");
  const done = client.waitFor({ id, done: true }, { from: start }).then((end) => ({
    ...{ text: textSoFar(), frames: frames() },
    error: end.error ? end.body : undefined
  }));
  // A test that is not interested in the end must not fail because of it.
  done.catch(() => {});
  return {
    id,
    done,
    waitForText: async (text) =>
      void (await client.waitFor(() => textSoFar().includes(text), { from: start }))
  };
}

/** The tool parts of the conversation, by call id. */
export async function toolParts(client: ChatClient): Promise<Record<string, Record<string, unknown>>> {
  const messages: readonly UIMessage[] = await client.history();
  const parts = messages.flatMap((message) => message.parts).filter((part) => "toolCallId" in part);
  return Object.fromEntries(
    parts.map((part) => [part.toolCallId, part as unknown as Record<string, unknown>])
  );
}

/** Long enough for a continuation that must not come: many times the 50 ms that answers are collected for. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 250));
}

/**
 * Makes the moment in which answers are collected last until this is disposed: nothing outside of the object is surely quicker than the real
 * one on a busy machine.
 */
export function endlessCollecting(): Disposable {
  return endlessTimers(LIMITS.continuationDelayMs);
}

/** Makes that moment last three seconds, for what must happen within it. */
export function longCollecting(): Disposable {
  return endlessTimers(LIMITS.continuationDelayMs, 3_000);
}
