/**
 * What the history says about loaded skills: the results of `load_context` and `unload_context` in assistant messages. Pure.
 * Parts come from storage and may have any shape.
 */
import type { UIMessage } from "ai";
import { isRecord } from "../../shared/json";
import { toolInput } from "../../shared/tool-input";

export const LOAD_TOOL = "load_context";
export const UNLOAD_TOOL = "unload_context";

/** A skill that was loaded or unloaded by a tool call. */
export interface SkillResult {
  readonly label: string;
  readonly key: string;
  /** `loaded`: the text is in the message. `marked`: it was taken out. `unloaded`: the model asked for that. */
  readonly kind: "loaded" | "marked" | "unloaded";
}

function unloadedMarker(key: string): string {
  return `[skill unloaded: ${key}]`;
}

export function skillId(label: string, key: string): string {
  return `${label}:${key}`;
}

/** The results in a message, oldest first. */
export function skillResults(message: UIMessage): SkillResult[] {
  return message.parts.flatMap((part) => {
    const result = skillResult(part);
    return result ? [result] : [];
  });
}

/** A copy in which the last loaded text of the skill is a marker; undefined when it has none. */
export function withoutSkill(message: UIMessage, label: string, key: string): UIMessage | undefined {
  const index = message.parts.findLastIndex((part) => {
    const result = skillResult(part);
    return result?.kind === "loaded" && result.label === label && result.key === key;
  });
  if (index < 0) return undefined;
  const parts = message.parts.map((part, position) =>
    position === index ? ({ ...part, output: unloadedMarker(key) } as typeof part) : part
  );
  return { ...message, parts };
}

function skillResult(part: unknown): SkillResult | undefined {
  if (!isRecord(part) || part.state !== "output-available") return undefined;
  const name = toolNameOf(part);
  if (name !== LOAD_TOOL && name !== UNLOAD_TOOL) return undefined;
  const { label, key } = toolInput(part.input);
  if (typeof label !== "string" || typeof key !== "string") return undefined;
  const { output } = part;
  // A refusal is a result too, but it loaded or unloaded nothing.
  if (typeof output === "string" && /^(Not found|Error:)/.test(output)) return undefined;
  if (name === UNLOAD_TOOL) return { label, key, kind: "unloaded" };
  return { label, key, kind: output === unloadedMarker(key) ? "marked" : "loaded" };
}

/** Dynamic parts carry the name, static ones have it in their type. */
function toolNameOf(part: Record<string, unknown>): string | undefined {
  if (typeof part.toolName === "string") return part.toolName;
  return typeof part.type === "string" && part.type.startsWith("tool-")
    ? part.type.slice("tool-".length)
    : undefined;
}
