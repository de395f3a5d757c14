/** The agent of the recovery tests. What a test sets for a name survives evictions; what the hooks saw does too. */
import {
  defaultContextOverflowClassifier,
  Think,
  type ChatErrorContext,
  type ChatRecoveryConfig,
  type ChatRecoveryContext,
  type ChatRecoveryExhaustedContext,
  type ChatRecoveryOptions,
  type ContextOverflowConfig,
  type PrepareStepContext,
  type StepConfig,
  type StreamCallback,
  type TurnConfig,
  type TurnContext
} from "@cloudflare/think";
import { tool, type LanguageModel, type ToolSet } from "ai";
import { z } from "zod";
import { stallLimit } from "./stall-limit";

declare global {
  namespace Cloudflare {
    interface Env {
      readonly RecoveryAgent: DurableObjectNamespace<RecoveryAgent>;
    }
  }
}

/** What one test decides for its agent, and what that agent's hooks saw, in every isolate. */
export interface RecoveryLab {
  model: LanguageModel;
  chatRecovery?: boolean | ChatRecoveryConfig;
  /** Milliseconds of silence after which the watchdog fires; see `stall-limit.ts`. */
  stallMs?: number;
  readonly silences?: number;
  overflow?: ContextOverflowConfig;
  decide?: (context: ChatRecoveryContext) => ChatRecoveryOptions | Promise<ChatRecoveryOptions>;
  /** What a compaction does; without it there is none. */
  compact?: (agent: RecoveryAgent, reason: string) => boolean;
  /** What the agent's own `onStart` does. */
  atStart?: (agent: RecoveryAgent) => void;
  /** What the tool waits for. */
  work?: () => Promise<void>;
  beforeStep?: (context: PrepareStepContext) => StepConfig | void;
  /** What the agent does at the start of each turn. */
  beforeTurn?: (agent: RecoveryAgent) => void | Promise<void>;
  readonly recoveries: ChatRecoveryContext[];
  readonly exhausted: ChatRecoveryExhaustedContext[];
  readonly events: { readonly type: string; readonly payload: unknown }[];
  readonly errors: (ChatErrorContext | undefined)[];
  readonly added: number[];
  readonly responses: string[];
  readonly classified: { readonly error: unknown; readonly context: unknown }[];
  /** Whether each turn was a continuation, as `beforeTurn` saw it. */
  readonly turns: boolean[];
  turnConfig?: { readonly chatStreamStallTimeoutMs: number };
  /** Stops every turn while an error is being classified. */
  stopsWhenClassified?: boolean;
}

const labs = new Map<string, RecoveryLab>();

/** The lists that the hooks fill. */
type Seen = "recoveries" | "exhausted" | "events" | "errors" | "added" | "responses" | "turns" | "classified";

export type LabSettings = Omit<RecoveryLab, Seen>;

export function openLab(name: string, settings: LabSettings): RecoveryLab {
  const seen = { recoveries: [], exhausted: [], events: [], errors: [], added: [], responses: [], turns: [] };
  const lab: RecoveryLab = { ...settings, ...seen, classified: [] };
  labs.set(name, lab);
  return lab;
}

export class RecoveryAgent extends Think {
  get lab(): RecoveryLab {
    const lab = labs.get(this.name);
    if (!lab) throw new Error(`No lab for ${this.name}: call openLab() first.`);
    return lab;
  }

  override observability = {
    emit: ({ type, payload }: { type: string; payload?: unknown }) =>
      void labs.get(this.name)?.events.push({ type, payload })
  } as never;

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env);
    // The name is not known yet when fields are set; each is asked for when it is needed.
    Object.defineProperties(this, {
      chatRecovery: { get: () => this.lab.chatRecovery ?? true, set() {} },
      chatStreamStallTimeoutMs: { get: () => stallLimit(this.lab), set() {} },
      contextOverflow: { get: () => this.lab.overflow, set() {} }
    });
  }

  override onStart(): void {
    this.lab.atStart?.(this);
  }

  override getModel(): LanguageModel {
    return this.lab.model;
  }

  override getTools(): ToolSet {
    return {
      add: tool({
        description: "Adds two numbers.",
        inputSchema: z.object({ a: z.number(), b: z.number() }),
        execute: async ({ a, b }) => {
          this.lab.added.push(a);
          await this.lab.work?.();
          return { sum: a + b };
        }
      }),
      erase: tool({
        description: "Erases everything, once a human agrees.",
        inputSchema: z.object({}),
        needsApproval: true,
        execute: () => "erased"
      })
    };
  }

  override async beforeTurn({ continuation }: TurnContext): Promise<TurnConfig> {
    this.lab.turns.push(continuation);
    await this.lab.beforeTurn?.(this);
    return this.lab.turnConfig ?? {};
  }

  override beforeStep(context: PrepareStepContext): StepConfig | void {
    return this.lab.beforeStep?.(context);
  }

  override classifyChatError(
    error: unknown,
    context?: { readonly stage: string; readonly requestId: string }
  ) {
    this.lab.classified.push({ error, context });
    if (this.lab.stopsWhenClassified) this.abortAllRequests();
    return defaultContextOverflowClassifier(error);
  }

  protected override _compactHistory(reason: "reactive" | "proactive") {
    const { compact } = this.lab;
    return compact ? Promise.resolve({ shortened: compact(this, reason) }) : super._compactHistory(reason);
  }

  override onChatRecovery(context: ChatRecoveryContext): ChatRecoveryOptions | Promise<ChatRecoveryOptions> {
    this.lab.recoveries.push(context);
    return this.lab.decide?.(context) ?? {};
  }

  override onChatError(error: unknown, context?: ChatErrorContext): unknown {
    this.lab.errors.push(context);
    return error;
  }

  override onChatResponse({ status }: { readonly status: string }): void {
    this.lab.responses.push(status);
  }

  async recordChat(question: string): Promise<string[]> {
    const calls: string[] = [];
    const callback: StreamCallback = {
      onStart: () => void calls.push("start"),
      onEvent: () => undefined,
      onDone: () => void calls.push("done"),
      onError: (error) => void calls.push(`error: ${error}`),
      onInterrupted: () => void calls.push("interrupted")
    };
    await this.chat(question, callback);
    return calls;
  }

  /** The isolate takes itself down, as a turn that uses up all memory does, once what was written is on disk. */
  async die(): Promise<void> {
    await this.ctx.storage.sync();
    this.ctx.abort("poisoned");
  }

  async carryOn(): Promise<string> {
    return (await this.continueLastTurn()).status;
  }

  async settle(timeout: number): Promise<boolean> {
    return this.waitUntilStable({ timeout });
  }
}
