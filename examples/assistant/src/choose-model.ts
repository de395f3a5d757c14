/**
 * Decides which model answers: Workers AI if it is bound, else an OpenAI-compatible endpoint if one is
 * configured, else the offline model. Called by the agent for every turn and by `/api/model` for the page.
 */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModel } from "ai";
import { createWorkersAI } from "workers-ai-provider";
import type { Env } from "./env";
import { createOfflineModel } from "./offline-model/model";
import type { ModelInfo } from "./shared/model-info";

const DEFAULT_WORKERS_AI_MODEL = "@cf/moonshotai/kimi-k2.5";
const DEFAULT_OPENAI_MODEL = "gpt-5-mini";

type ModelEnv = Omit<Env, "Assistant">;

/** Tells which model the environment selects, without making it. */
export function describeModel(env: ModelEnv): ModelInfo {
  if (env.AI !== undefined) {
    return { kind: "workers-ai", label: env.WORKERS_AI_MODEL ?? DEFAULT_WORKERS_AI_MODEL };
  }
  if (isSet(env.OPENAI_BASE_URL)) {
    return { kind: "openai-compatible", label: env.OPENAI_MODEL ?? DEFAULT_OPENAI_MODEL };
  }
  return { kind: "offline", label: "Offline model" };
}

/** Makes the model the environment selects. */
export function chooseModel(env: ModelEnv): LanguageModel {
  const { label } = describeModel(env);
  if (env.AI !== undefined) return createWorkersAI({ binding: env.AI })(label);
  if (isSet(env.OPENAI_BASE_URL)) {
    const provider = createOpenAICompatible({
      name: "openai-compatible",
      baseURL: env.OPENAI_BASE_URL,
      ...(isSet(env.OPENAI_API_KEY) ? { apiKey: env.OPENAI_API_KEY } : {})
    });
    return provider(label);
  }
  return createOfflineModel();
}

/** A variable left empty in `.dev.vars` counts as not set. */
function isSet(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== "";
}
