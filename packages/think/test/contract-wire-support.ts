/** What the tests of contract §1–§5 share: a fresh agent with a scripted model, and readers of what came of it. */
import { env, exports } from "cloudflare:workers";
import {
  connectChat,
  runInAgent,
  scriptedModel,
  type ReceivedFrame,
  type Script
} from "@cloudflare/think/testing";
import type { UIMessageChunk } from "ai";
import type { StreamableResult, TurnConfig, TurnContext } from "../src/public-types";
import { useTurnModel } from "./worker/turn-agents";

let counter = 0;

export async function newAgent(script: Script) {
  const name = `wire-${(counter += 1)}`;
  const model = scriptedModel(script);
  useTurnModel(name, model);
  const connect = () => connectChat(exports.default, { agent: "WireAgent", name });
  const stub = () => env.WireAgent.getByName(name);
  /** Gives the instance hooks of the test's own. */
  const override = (hooks: {
    readonly beforeTurn?: (context: TurnContext) => void | TurnConfig | Promise<void | TurnConfig>;
    readonly _transformInferenceResult?: (result: StreamableResult) => StreamableResult;
    readonly messageConcurrency?: string;
  }) => runInAgent(stub(), (agent) => void Object.assign(agent, hooks));
  return { name, model, connect, stub, override, client: await connect() };
}

export const texts = (messages: readonly { readonly parts: readonly { readonly type: string }[] }[]) =>
  messages.map(({ parts }) => parts.map((part) => ("text" in part ? part.text : "")).join(""));

export const responses = (frames: readonly ReceivedFrame[]) =>
  frames.filter((frame) => frame.type === "cf_agent_use_chat_response");

export const isList = (frame: ReceivedFrame) => frame.type === "cf_agent_chat_messages";

/** A stream of the test's own in place of the model's. */
export const streamOf =
  (...chunks: readonly object[]) =>
  (): StreamableResult => ({
    async *toUIMessageStream() {
      yield* chunks as UIMessageChunk[];
    }
  });

export const silent = { onStart() {}, onEvent() {}, onDone() {}, onError() {} };
