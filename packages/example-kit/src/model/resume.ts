/** Goes on with an answer that was cut off. Pure; called by the model. */
import type { Plan, Utterance } from "./types";

/**
 * Leaves out what an interrupted step already said. The plan is deterministic, so after a crash the rest of
 * the same answer can be told; text that does not match is not ours to continue, and the step starts over.
 */
export function resume(full: Plan, alreadySaid: string): Plan {
  if (alreadySaid === "") return full;
  const spoken = full.findIndex((utterance) => utterance.type === "text");
  const utterance = full[spoken];
  if (utterance?.type !== "text") return full;
  if (utterance.text.startsWith(alreadySaid)) {
    const rest: Utterance = { ...utterance, text: utterance.text.slice(alreadySaid.length) };
    // Reasoning came before the text, so it has been seen as well.
    return [rest, ...full.slice(spoken + 1)].filter((part) => part.type !== "text" || part.text !== "");
  }
  return full;
}
