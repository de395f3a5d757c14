/**
 * The offline model of the assistant: a language model without a network, for the first answer on a new machine and for tests.
 */
import {
  createPlannedModel,
  type LanguageModelV3,
  type PlannedModelOptions
} from "@cloudflare/think-example-kit/model";
import { plan } from "./planner";

/** Creates the offline model. The words are the same every time; only ids are random. */
export function createOfflineModel(options: PlannedModelOptions = {}): LanguageModelV3 {
  return createPlannedModel(plan, options);
}
