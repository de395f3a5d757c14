/** A fresh agent of the contract-api tests with a scripted model, and ways to reach it. */
import { env, exports } from "cloudflare:workers";
import { connectChat, scriptedModel, type Script } from "@cloudflare/think/testing";
import type { UIMessage } from "ai";
import { useContractModel, useContractSession } from "./worker/contract-api-agents";

let counter = 0;

export async function newAgent(script: Script, configure?: Parameters<typeof useContractSession>[1]) {
  const name = `contract-api-${(counter += 1)}`;
  const model = scriptedModel(script);
  useContractModel(name, model);
  if (configure) useContractSession(name, configure);
  const stub = () => env.ContractApiAgent.getByName(name);
  const connect = () => connectChat(exports.default, { agent: "ContractApiAgent", name });
  return { name, model, stub, connect, client: await connect() };
}

export const texts = (messages: readonly UIMessage[]): string[] =>
  messages.map(({ parts }) => parts.map((part) => ("text" in part ? part.text : "")).join(""));

/** A callback for `chat()` that records its calls; events that follow each other count once. */
export function recorder() {
  const calls: string[] = [];
  return {
    calls,
    onStart: () => void calls.push("start"),
    onEvent: () => void (calls.at(-1) === "event" || calls.push("event")),
    onDone: () => void calls.push("done"),
    onError: (error: string) => void calls.push(`error: ${error}`)
  };
}
