import { afterEach, expect, it } from "vitest";
import { gate } from "./gate";
import { defaultTimeout, setDefaultTimeout } from "./patience";

afterEach(() => setDefaultTimeout(4000));

it("sets how long waits take that do not say it themselves", async () => {
  expect(defaultTimeout()).toBe(4000);
  setDefaultTimeout(5);
  await expect(gate().reached).rejects.toThrow("No model call reached the gate within 5 ms.");
  await expect(gate({ timeout: 6 }).reached).rejects.toThrow("within 6 ms");
});

it.each([0, -1, Number.NaN])("refuses %d: a wait needs time", (milliseconds) => {
  expect(() => setDefaultTimeout(milliseconds)).toThrow("above 0");
  expect(defaultTimeout()).toBe(4000);
});
