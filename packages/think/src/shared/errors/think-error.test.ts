import { expect, it } from "vitest";
import { ThinkError } from "./think-error";

it("knows its own, and those that came over RPC without their symbol", () => {
  const error = new ThinkError("No such session.", { code: "session-not-found" });
  expect(ThinkError.is(error)).toBe(true);
  const overRpc = Object.assign(new Error(error.message), { name: "ThinkError", code: error.code });
  expect(ThinkError.is(overRpc)).toBe(true);
  const others = [
    new Error("x"),
    Object.assign(new Error("x"), { code: "session-not-found" }),
    "ThinkError",
    null
  ];
  for (const other of others) expect(ThinkError.is(other)).toBe(false);
});
