import { describe, expect, it } from "vitest";
import { findChromium } from "./chromium";

describe("the search for a browser", () => {
  it("takes the one that the environment names", async () => {
    const sources = {
      named: process.execPath,
      installed: [],
      packaged: () => Promise.reject(new Error("unused"))
    };
    expect(await findChromium(sources)).toBe(process.execPath);
  });

  it("does not silently test in another one when the named one is missing", async () => {
    const sources = {
      named: "/nowhere/chromium",
      installed: [process.execPath],
      packaged: async () => process.execPath
    };
    await expect(findChromium(sources)).rejects.toThrow("CHROMIUM_PATH names /nowhere/chromium");
  });

  it("falls back to the one from npm", async () => {
    const sources = {
      named: undefined,
      installed: ["/nowhere/chromium"],
      packaged: async () => "/unpacked/chromium"
    };
    expect(await findChromium(sources)).toBe("/unpacked/chromium");
  });

  it("fails with a sentence that says how to get one", async () => {
    const sources = {
      named: undefined,
      installed: [],
      packaged: () => Promise.reject(new Error("not installed"))
    };
    await expect(findChromium(sources)).rejects.toThrow(/Set CHROMIUM_PATH .* install one .* pnpm install/);
  });
});
