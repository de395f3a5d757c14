/** What the tests of `execute` share: a fresh agent whose model sends code, and what the model was told about it. */
import { env, exports } from "cloudflare:workers";
import { connectChat, runInAgent, scriptedModel, toolCall, type Script } from "@cloudflare/think/testing";
import type { ExecuteOptions, ExecuteOutput } from "@cloudflare/think/tools/execute";
import type { UIMessage } from "ai";
import { ran, useExecuteModel, type ExecuteAgent } from "./worker/execute-agents";

let counter = 0;

export const code = (source: string) => toolCall("execute", { code: source });

export async function newExecutor(script: Script = [], overrides: ExecuteOptions = {}) {
  const name = `execute-${(counter += 1)}`;
  const model = scriptedModel(script);
  useExecuteModel(name, model);
  const connect = () => connectChat(exports.default, { agent: "ExecuteAgent", name });
  const stub = () => env.ExecuteAgent.getByName(name);
  const client = await connect();
  await runInAgent(stub(), (agent: ExecuteAgent) => void (agent.overrides = overrides));
  return {
    ...{ name, model, connect, stub, client },
    /** Runs code as the tool does, outside a turn. */
    run: (source: string) => runInAgent(stub(), (agent: ExecuteAgent) => runTool(agent, source)),
    ran: () => ran.get(name) ?? []
  };
}

async function runTool(agent: ExecuteAgent, source: string): Promise<ExecuteOutput> {
  const { execute } = agent.getTools();
  const run = execute?.execute as ((input: unknown, options: unknown) => Promise<ExecuteOutput>) | undefined;
  if (!run) throw new Error("The agent has no execute tool.");
  // A copy, so that nothing of the agent's isolate is held.
  return JSON.parse(JSON.stringify(await run({ code: source }, {}))) as ExecuteOutput;
}

/** The outputs of `execute` in a conversation, in order. */
export function outputs(messages: readonly UIMessage[]): ExecuteOutput[] {
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      part.type === "tool-execute" && "output" in part ? [part.output as ExecuteOutput] : []
    )
  );
}

export const idOf = (output: ExecuteOutput | undefined): string => output?.executionId ?? "";
