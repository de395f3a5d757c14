/**
 * One turn's model work: gather what the agent offers, assemble the request, ask `beforeTurn`, start the stream. No storage and no sockets;
 * the turn consumes the chunks. The order of the steps is a promise to authors of hooks (design/loop.md).
 */
import type { ModelMessage, ToolSet, UIMessage } from "ai";
import { ThinkError } from "../shared/errors/think-error";
import { withCapabilityBlock } from "./capability-block";
import { clientTools } from "./client-tools";
import { checkModel } from "./check-model";
import { createHooks, type Hooks } from "./hooks";
import type { LoopAgent, LoopInput } from "./loop-agent";
import { LOOP_LIMITS } from "../shared/limits";
import { repair } from "./repair";
import { resumeCalls } from "./resume-calls";
import { streamModel, toModelMessages, type ModelStream } from "./sdk";
import { createStepGuard, type StepGuard } from "./step-guard";
import { FINAL_ANSWER_TOOL } from "./tool-gate";
import { mergeTools, type ToolSources } from "./tool-merge";
import { agentSources } from "./tool-sources";
import { truncateOlderMessages } from "../session/truncate-messages";
import type { TurnConfig } from "./turn-config";
import { usableMessages } from "./usable-parts";

/** Ends a prompt that would end with the model's own words. Never stored. */
const CARRY_ON: ModelMessage = {
  role: "user",
  content: "Continue from where you stopped. Do not repeat what you have already said or done."
};

export async function runLoop(agent: LoopAgent, input: LoopInput): Promise<ModelStream> {
  await waitForMcp(agent, input.signal);
  const client = clientTools(input.clientTools ?? [], input.onClientToolCall);
  const sources: ToolSources = { ...(await agentSources(agent)), client };
  const tools = mergeTools(sources);
  const late = await resumeCalls(agent, input, tools);
  const basePrompt = await agent.systemPrompt();
  const system = withCapabilityBlock(basePrompt, Object.keys(tools));
  const messages = await promptMessages(agent, input.messages(), tools, late);
  const model = checkModel(agent.model(), "getModel()");
  const hooks = createHooks(agent.hooks(), agent.observers());
  const body = input.body ? { body: { ...input.body } } : {};
  const context = {
    system,
    messages,
    tools: visible(tools),
    model,
    continuation: input.continuation,
    ...body
  };
  const config = await hooks.beforeTurn(context);
  // A turn that was cancelled meanwhile is over; the model must not be asked for nobody.
  input.signal.throwIfAborted();
  const turnTools = config.tools ? mergeTools({ ...sources, turn: config.tools }) : tools;
  agent.repeatable(repeatable(turnTools, sources.workspace));
  if (late.size > 0) await resumeCalls(agent, input, turnTools);
  const current = late.size > 0 ? await promptMessages(agent, input.messages(), turnTools) : messages;
  const prompt = {
    model: config.model ? checkModel(config.model, "beforeTurn()") : model,
    system: config.system ?? withCapabilityBlock(basePrompt, exposed(turnTools, config)),
    messages: endingWithUser(config.messages ?? current),
    tools: turnTools
  };
  return start(agent, input, hooks, config, prompt);
}

/** The tools that the model is shown in this turn: it must not be told of others. */
function exposed(tools: ToolSet, { activeTools }: TurnConfig): string[] {
  const names = Object.keys(tools);
  return activeTools === undefined ? names : names.filter((name) => activeTools.includes(name));
}

/** Captured after the overrides of `beforeTurn`: what the run began with is what a compaction may replace. */
function stepGuard(agent: LoopAgent, input: LoopInput, prompt: Prompt): StepGuard | undefined {
  const limits = agent.stepLimits();
  return (
    limits &&
    createStepGuard({
      limits,
      compact: () => agent.compact(),
      assemble: async () => endingWithUser(await promptMessages(agent, input.messages(), prompt.tools)),
      baseline: prompt.messages.length,
      emit: agent.emit
    })
  );
}

/** Calls of these with the same input change nothing more. `edit`, `delete` and `bash` are not among them. */
const REPEATABLE: ReadonlySet<string> = new Set(["read", "write", "list", "find", "grep"]);

/** A tool of that name from elsewhere may do anything. */
function repeatable(tools: ToolSet, workspace: ToolSet = {}): ReadonlySet<string> {
  const own = (name: string) => REPEATABLE.has(name) && tools[name] === workspace[name];
  return new Set(Object.keys(workspace).filter(own));
}

interface Prompt {
  readonly model: ReturnType<LoopAgent["model"]>;
  readonly system: string;
  readonly messages: ModelMessage[];
  readonly tools: ToolSet;
}

function start(
  agent: LoopAgent,
  input: LoopInput,
  hooks: Hooks,
  config: TurnConfig,
  prompt: Prompt
): ModelStream {
  return streamModel({
    ...prompt,
    config,
    hooks,
    guard: stepGuard(agent, input, prompt),
    maxSteps: config.maxSteps ?? agent.maxSteps(),
    sendReasoning: config.sendReasoning ?? agent.sendReasoning(),
    signal: input.signal,
    transformResult: agent.transformResult()
  });
}

/** A server that is slow or down costs its tools, not the turn. */
async function waitForMcp({ mcp, waitForMcp: wait }: LoopAgent, signal: AbortSignal): Promise<void> {
  const wanted = wait();
  if (wanted === false || !mcp.hasServers()) return;
  const timeout = wanted === true ? LOOP_LIMITS.mcpWaitMs : wanted.timeout;
  signal.throwIfAborted();
  let cancel = () => {};
  const cancelled = new Promise<void>((resolve) => {
    cancel = resolve;
  });
  signal.addEventListener("abort", cancel, { once: true });
  await Promise.race([mcp.wait(timeout), cancelled]);
  signal.removeEventListener("abort", cancel);
  signal.throwIfAborted();
}

async function promptMessages(
  agent: LoopAgent,
  stored: readonly UIMessage[],
  tools: ToolSet,
  leave?: ReadonlySet<string>
): Promise<ModelMessage[]> {
  const usable = usableMessages(repair(agent, stored, leave));
  const messages = await toModelMessages(truncateOlderMessages(usable), tools);
  if (messages.length > 0) return messages;
  throw new ThinkError("No messages to send to the model. Add a user message before running a turn.", {
    code: "no-messages"
  });
}

/** Providers refuse, or misread, a prompt whose last word is the model's own. */
function endingWithUser(messages: ModelMessage[]): ModelMessage[] {
  return messages.at(-1)?.role === "assistant" ? [...messages, CARRY_ON] : messages;
}

function visible(tools: ToolSet): ToolSet {
  if (!(FINAL_ANSWER_TOOL in tools)) return tools;
  const { [FINAL_ANSWER_TOOL]: _hidden, ...shown } = tools;
  return shown;
}
