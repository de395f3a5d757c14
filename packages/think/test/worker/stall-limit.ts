/**
 * The watchdog of agents under test. It is on while the script still has silences to come, or has none: an answer after the last silence may
 * take as long as a busy machine needs.
 */
import type { Script, ScriptedModel } from "@cloudflare/think/testing";
import type { LanguageModel } from "ai";

export interface Watched {
  readonly model: LanguageModel;
  stallMs?: number;
  /** How many answers of the script end in silence; `silencesIn` counts them. */
  readonly silences?: number;
}

export function silencesIn(script: Script): number {
  if (typeof script === "function") return 0;
  return script.filter((step) =>
    [step].flat().some((part) => typeof part === "object" && part.type === "hang")
  ).length;
}

export function stallLimit({ model, stallMs = 0, silences = 0 }: Watched): number {
  const calls = (model as Partial<ScriptedModel>).calls ?? [];
  const spent = calls.filter(({ status }) => status === "aborted").length;
  return silences > 0 && spent >= silences ? 0 : stallMs;
}
