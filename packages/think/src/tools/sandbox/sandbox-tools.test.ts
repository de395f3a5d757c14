import { expect, it, vi } from "vitest";
import { createSandboxTools } from "./sandbox-tools";

it("§5 sandbox: returns no tools, touches no binding and warns once", () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const untouchable = new Proxy(
    {},
    {
      get: () => {
        throw new Error("touched");
      }
    }
  );
  expect(createSandboxTools()).toEqual({});
  expect(createSandboxTools(untouchable, { timeout: 5 })).toEqual({});
  expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining("not implemented"));
  warn.mockRestore();
});
