import type { LanguageModel } from "ai";
import { expect, it } from "vitest";
import { checkModel } from "./check-model";

it.each([
  [undefined, "undefined"],
  [null, "null"],
  ["", "an empty string"],
  [Promise.resolve(), "a promise (make the model without await)"],
  [() => undefined, "a function (call it with a model id)"],
  [{}, "a value of type object"]
])("says what it got in place of a model: %s", (value, words) => {
  expect(() => checkModel(value as unknown as LanguageModel, "getModel()")).toThrow(
    `getModel() gave ${words}, not a language model.`
  );
});

it("takes a model, or the id of one", () => {
  expect(checkModel("provider/model", "getModel()")).toBe("provider/model");
  const model = { specificationVersion: "v3" } as LanguageModel;
  expect(checkModel(model, "getModel()")).toBe(model);
});
