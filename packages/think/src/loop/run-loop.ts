/**
 * One turn's model work: gather what the agent offers, assemble the request, start the stream. No storage and no sockets; the
 * caller consumes the chunks.
 */
import type { LanguageModel, ToolSet, UIMessage } from "ai";
import { ThinkError } from "../shared/errors/think-error";
import { withCapabilityBlock } from "./capability-block";
import { streamModel, toModelMessages, type ModelStream } from "./sdk";

/** What the agent's author decides. Asked anew for every turn. */
export interface LoopAgent {
  model(): LanguageModel;
  systemPrompt(): string | Promise<string>;
  tools(): ToolSet;
  maxSteps(): number;
  sendReasoning(): boolean;
}

export interface LoopInput {
  readonly messages: readonly UIMessage[];
  readonly signal: AbortSignal;
}

export async function runLoop(agent: LoopAgent, { messages, signal }: LoopInput): Promise<ModelStream> {
  const tools = agent.tools();
  const system = withCapabilityBlock(await agent.systemPrompt(), Object.keys(tools));
  const modelMessages = await toModelMessages(messages, tools);
  if (modelMessages.length === 0) {
    throw new ThinkError("No messages to send to the model. Add a user message before running a turn.", { code: "no-messages" });
  }
  return streamModel({
    model: agent.model(),
    system,
    messages: modelMessages,
    tools,
    maxSteps: agent.maxSteps(),
    sendReasoning: agent.sendReasoning(),
    signal
  });
}
