/**
 * What a context block is: the author's configuration, and the block as others see it. Checks configurations when they are
 * registered, so that a mistake names its place instead of showing up in a prompt.
 */
import { ThinkError } from "../../shared/errors/think-error";
import { CONTEXT_LIMITS } from "../../shared/limits";
import type { AnyContextProvider } from "./provider";

export interface ContextConfig {
  /** Tells the model what the block is for. */
  readonly description?: string | undefined;
  /** Budget of a writable block in tokens; a write beyond it is refused. Default: none. */
  readonly maxTokens?: number | undefined;
  /** Where the content lives. Default: a durable writable block in the agent's database. */
  readonly provider?: AnyContextProvider | undefined;
}

export interface ContextRegistration {
  readonly label: string;
  readonly config: ContextConfig;
}

export interface ContextBlock {
  readonly label: string;
  readonly description?: string;
  /** What the prompt shows: the text, or the listing of a block with keys. */
  readonly content: string;
  /** Size of `content` in tokens, estimated. */
  readonly tokens: number;
  readonly maxTokens?: number;
  readonly writable: boolean;
  readonly isSkill: boolean;
  readonly isSearchable: boolean;
}

/** The key of the frozen prompt begins so. A label that did would let content take the place of the whole prompt. */
export const PROMPT_LABEL = "_system_prompt";

/** A label is a heading and part of a key: one line, something to see. */
const label = /^[^\p{Cc}\p{Zl}\p{Zp}]*$/u;

/** Throws when a block cannot be registered like this. */
export function checkRegistration({ label: text, config }: ContextRegistration): void {
  if (typeof text !== "string" || text.trim() === "" || !label.test(text)) {
    throw invalid(`The label of a context block must be one line of text, not ${JSON.stringify(text)}.`);
  }
  if (text.startsWith(PROMPT_LABEL)) {
    throw invalid(
      `The label of a context block must not begin with ${PROMPT_LABEL}: the prompt is kept there.`
    );
  }
  if (text.length > CONTEXT_LIMITS.labelChars) {
    throw invalid(`The label of a context block may have ${CONTEXT_LIMITS.labelChars} characters at most.`);
  }
  const { maxTokens, description = "" } = config;
  if (maxTokens !== undefined && !(Number.isFinite(maxTokens) && maxTokens >= 0)) {
    throw invalid(
      `maxTokens of context block "${text}" must be a number of tokens, not ${String(maxTokens)}.`
    );
  }
  if (description.length > CONTEXT_LIMITS.descriptionChars) {
    throw invalid(
      `The description of context block "${text}" may have ${CONTEXT_LIMITS.descriptionChars} characters at most.`
    );
  }
}

export function invalid(message: string): ThinkError {
  return new ThinkError(message, { code: "context-invalid" });
}
