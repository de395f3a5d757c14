/**
 * Who listens to what during a run: the author's overridden hooks first, then the observers in order. `createHooks` leaves out every hook
 * that nobody listens to, so that it costs nothing.
 *
 * I1. An observer cannot fail a turn: what it throws is logged.
 * I2. A failing `afterToolCall`, `onStepFinish` or `onChunk` of the author is logged too; the SDK would swallow it.
 */
import type {
  AgentHooks,
  ChunkContext,
  StepContext,
  ToolCallContext,
  ToolCallDecision,
  ToolCallResultContext,
  TurnContext
} from "./hook-types";
import { errorText } from "../shared/errors/error-text";
import { mergeTurnConfig, type TurnConfig } from "./turn-config";

/** Someone besides the author who follows a run, such as an extension. Time limits are the observer's own business. */
export interface HookObserver {
  /** `config` is what was decided so far; what is returned is merged into it. */
  beforeTurn?(context: TurnContext, config: TurnConfig): Promise<TurnConfig | void>;
  /** `input` is the one the tool will run with. */
  beforeToolCall?(context: ToolCallContext): Promise<void>;
  afterToolCall?(context: ToolCallResultContext): Promise<void>;
  onStepFinish?(context: StepContext): Promise<void>;
  onChunk?(context: ChunkContext): Promise<void>;
}

/** The hooks of one run; absent ones have no listener. */
export interface Hooks extends Partial<Omit<AgentHooks, "beforeTurn">> {
  beforeTurn(context: TurnContext): Promise<TurnConfig>;
}

const HOOKS = [
  "beforeTurn",
  "beforeStep",
  "beforeToolCall",
  "afterToolCall",
  "onStepFinish",
  "onChunk"
] as const satisfies readonly (keyof AgentHooks)[];

/** The hooks that differ from the defaults, bound to their agent. */
export function overriddenHooks(agent: AgentHooks, defaults: AgentHooks): Partial<AgentHooks> {
  const names = HOOKS.filter((name) => agent[name] !== defaults[name]);
  return Object.fromEntries(names.map((name) => [name, agent[name].bind(agent)]));
}

export function createHooks(author: Partial<AgentHooks>, observers: readonly HookObserver[]): Hooks {
  const beforeToolCall = beforeToolCallOf(author, observers);
  const afterToolCall = listen<ToolCallResultContext>("afterToolCall", author, observers);
  const onStepFinish = listen<StepContext>("onStepFinish", author, observers);
  const onChunk = listen<ChunkContext>("onChunk", author, observers);
  return {
    beforeTurn: (context) => beforeTurn(author, observers, context),
    ...(author.beforeStep ? { beforeStep: author.beforeStep } : {}),
    ...(beforeToolCall ? { beforeToolCall } : {}),
    ...(afterToolCall ? { afterToolCall } : {}),
    ...(onStepFinish ? { onStepFinish } : {}),
    ...(onChunk ? { onChunk } : {})
  };
}

async function beforeTurn(
  author: Partial<AgentHooks>,
  observers: readonly HookObserver[],
  context: TurnContext
): Promise<TurnConfig> {
  let config = (await author.beforeTurn?.(context)) ?? {};
  for (const observer of observers) {
    const patch = await contained("beforeTurn", () => observer.beforeTurn?.(context, config));
    if (patch) config = mergeTurnConfig(config, patch);
  }
  return config;
}

function beforeToolCallOf(
  author: Partial<AgentHooks>,
  observers: readonly HookObserver[]
): Hooks["beforeToolCall"] {
  const watching = observers.filter((observer) => observer.beforeToolCall);
  if (watching.length === 0) return author.beforeToolCall;
  return async (context): Promise<ToolCallDecision | void> => {
    const decision = await author.beforeToolCall?.(context);
    const input = decision && "input" in decision ? decision.input : context.input;
    for (const observer of watching) {
      await contained("beforeToolCall", () => observer.beforeToolCall?.({ ...context, input }));
    }
    return decision;
  };
}

function listen<Context>(
  name: "afterToolCall" | "onStepFinish" | "onChunk",
  author: Partial<AgentHooks>,
  observers: readonly HookObserver[]
): ((context: Context) => Promise<void>) | undefined {
  type Listener = (context: Context) => void | Promise<void>;
  const listeners = [author, ...observers].flatMap((listener) => {
    const hook = listener[name] as Listener | undefined;
    return hook ? [hook.bind(listener)] : [];
  });
  if (listeners.length === 0) return undefined;
  return async (context) => {
    for (const listener of listeners) await contained(name, () => listener(context));
  };
}

async function contained<Result>(name: string, work: () => Result): Promise<Awaited<Result> | undefined> {
  try {
    return await work();
  } catch (error) {
    console.error(`[Think] ${name} failed: ${errorText(error)}`, error);
    return undefined;
  }
}
