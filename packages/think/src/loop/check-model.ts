/** A model that is none is told by what it is, before the AI SDK trips over it. */
import type { LanguageModel } from "ai";
import { isThenable } from "../shared/is-thenable";
import { ThinkError } from "../shared/errors/think-error";

export function checkModel(model: LanguageModel, from: string): LanguageModel {
  const value: unknown = model;
  if (typeof value === "string" && value !== "") return model;
  if (typeof value === "object" && value !== null && "specificationVersion" in value) return model;
  throw new ThinkError(
    `${from} gave ${describe(value)}, not a language model. Return one, for example createWorkersAI({ binding: this.env.AI })("@cf/...").`,
    {
      code: "model-missing"
    }
  );
}

function describe(value: unknown): string {
  if (isThenable(value)) return "a promise (make the model without await)";
  if (value === undefined || value === null || value === "")
    return value === "" ? "an empty string" : String(value);
  return typeof value === "function"
    ? "a function (call it with a model id)"
    : `a value of type ${typeof value}`;
}
