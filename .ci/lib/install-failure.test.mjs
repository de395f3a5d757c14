import { describe, expect, it } from "vitest";
import { explainInstallFailure, networkIsGone } from "./install-failure.mjs";

/** @param {string} output */
const explain = (output) => explainInstallFailure(output, "install.log");

describe("the sentence for a failed install", () => {
  it.each([
    "npm error code ENOTFOUND\nnpm error network request to a registry failed",
    "npm error code EAI_AGAIN",
    "ERR_PNPM_META_FETCH_FAIL  GET something: connect ECONNREFUSED",
    "error sending request for url: dns error: failed to lookup address"
  ])("names the network for: %s", (output) => {
    expect(explain(output)).toContain("cannot be reached");
  });

  it("names the lockfile when it does not fit", () => {
    expect(explain("ERR_PNPM_OUTDATED_LOCKFILE  Cannot install")).toContain("pnpm-lock.yaml");
  });

  it("names the disk when it is full", () => {
    expect(explain("ENOSPC: no space left on device, write")).toContain("disk is full");
  });

  it("points to the log for anything else, and is always one line", () => {
    const sentence = explain("something odd\n    at file.js:1:1");
    expect(sentence).toContain("install.log");
    expect(sentence).not.toContain("\n");
  });
});

describe("a lost network", () => {
  it("is ten requests at their last attempt, not one", () => {
    expect(networkIsGone("Will retry in 5s. 0 retries left.\n")).toBe(false);
    expect(networkIsGone("Will retry in 5s. 0 retries left.\n".repeat(10))).toBe(true);
  });
});
