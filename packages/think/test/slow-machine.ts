/**
 * Setup of every workers file: what makes the tests independent of how fast the machine is.
 *
 * - Waits are bounded generously. A bound is only reached by a failure; a slow machine must not reach it.
 * - Files share one runtime, so each ends with a crash of all objects. What a file leaves behind (a model at a gate, a result nobody disposed)
 *   would cost the next ones time, and `evictAll()` would wait for it until the test is over.
 */
import { crashAll, setDefaultTimeout } from "@cloudflare/think/testing";
import { afterAll, vi } from "vitest";

/** Longest wait for anything (milliseconds): far above what a busy machine needs, below `testTimeout`. */
const patience = 25_000;

setDefaultTimeout(patience);

const { waitFor, waitUntil } = vi;
const generous = <Options extends object>(options: number | Options | undefined) =>
  typeof options === "number" ? options : { timeout: patience, interval: 20, ...options };
vi.waitFor = (callback, options) => waitFor(callback, generous(options));
vi.waitUntil = (callback, options) => waitUntil(callback, generous(options));

afterAll(() => crashAll());
