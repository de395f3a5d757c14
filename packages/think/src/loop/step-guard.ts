/**
 * The proactive side of context-window overflow: before a step that would come near the model's limit the stored history is compacted, and the
 * step gets the shorter history with everything this turn has done so far.
 *
 * I1. This turn's own messages follow the new head unchanged, so every tool call keeps its result.
 * I2. An attempt counts before it is made: a compaction that shortens nothing, or fails, is not repeated.
 */
import type { ModelMessage } from "ai";
import type { Emit } from "../observability/events";
import { errorText } from "../shared/errors/error-text";
import { LOOP_LIMITS } from "../shared/limits";

/** The limits of one run. */
export interface StepLimits {
  readonly maxInputTokens: number;
  readonly headroom?: number;
  readonly maxCompactions?: number;
}

export interface StepGuardParts {
  readonly limits: StepLimits;
  readonly compact: () => Promise<{ readonly shortened: boolean } | null>;
  /** The prompt's messages, from the history as it is stored now. */
  readonly assemble: () => Promise<ModelMessage[]>;
  /** How many messages the run began with. */
  readonly baseline: number;
  readonly emit: Emit;
}

interface Usage {
  readonly inputTokens?: number | undefined;
  readonly totalTokens?: number | undefined;
}

/** What the guard needs to know of a step that is about to run. */
export interface ComingStep {
  readonly steps: readonly { readonly usage: Usage }[];
  readonly messages: readonly ModelMessage[];
  /** What the run has added to the conversation; absent on version 6. */
  readonly responseMessages?: readonly ModelMessage[] | undefined;
}

/** Gives the messages that the step is to get instead of its own, if any. */
export type StepGuard = (step: ComingStep) => Promise<ModelMessage[] | undefined>;

export function createStepGuard(parts: StepGuardParts): StepGuard {
  const { limits, baseline, emit } = parts;
  const most = Math.max(1, limits.maxCompactions ?? 1);
  let attempts = 0;
  let head: readonly ModelMessage[] | undefined;

  const shorten = async () => {
    attempts += 1;
    try {
      const shortened = (await parts.compact())?.shortened ?? false;
      emit("chat:context:compacted", { reason: "proactive", shortened });
      if (shortened) head = await parts.assemble();
    } catch (error) {
      console.warn(`[Think] The compaction in mid-turn failed, the step runs unchanged: ${errorText(error)}`);
    }
  };

  return async ({ steps, messages, responseMessages }) => {
    if (attempts < most && isNear(steps.at(-1)?.usage, limits)) await shorten();
    // Version 6 forgets a step's messages, so a shortened head is given to every later step as well.
    return head && [...head, ...(responseMessages ?? messages.slice(baseline))];
  };
}

function isNear(usage: Usage | undefined, { maxInputTokens, headroom }: StepLimits): boolean {
  const used = usage?.inputTokens ?? usage?.totalTokens;
  return Number.isFinite(used) && Number(used) >= maxInputTokens * (headroom ?? LOOP_LIMITS.contextHeadroom);
}
