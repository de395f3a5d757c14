/** A caller of `chat()` that does not keep up, on SDK 7: issue 7, "a slow parent bounds memory". Version 6 of the SDK reads a step to its end by itself. */
import { crash } from "@cloudflare/think/testing";
import type { LanguageModel } from "ai";
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { patient } from "./agent-tools-support";
import { openCaller, openChild } from "./worker/agent-tools-agents";

type Model = Extract<LanguageModel, { readonly specificationVersion: "v4" }>;
type Part =
  Awaited<ReturnType<Model["doStream"]>>["stream"] extends ReadableStream<infer Item> ? Item : never;

const DELTAS = 100_000;
const DELTA = "word ".repeat(20);

/** Ten million characters, as fast as they are taken. */
function eagerModel() {
  const taken = { parts: 0 };
  const next = (): Part => {
    if (taken.parts === 1) return { type: "stream-start", warnings: [] };
    if (taken.parts === 2) return { type: "text-start", id: "1" };
    return { type: "text-delta", id: "1", delta: DELTA };
  };
  const stream = () =>
    new ReadableStream<Part>(
      {
        pull(controller) {
          taken.parts += 1;
          if (taken.parts < DELTAS) controller.enqueue(next());
          else controller.close();
        }
      },
      { highWaterMark: 0 }
    );
  const model: Model = {
    ...{ specificationVersion: "v4", provider: "test", modelId: "eager", supportedUrls: {} },
    doGenerate: () => Promise.reject(new Error("Only streams are asked for.")),
    doStream: () => Promise.resolve({ stream: stream() })
  };
  return { model, taken };
}

it("holds back the provider: no more of the answer is read than the caller has taken and may be owed", async () => {
  const parent = `slow-${crypto.randomUUID()}`;
  const { model, taken } = eagerModel();
  openChild(`child-${parent}`, { model });
  const caller = openCaller(parent);
  caller.isHolding = true;
  const stub = () => env.ToolParent.getByName(parent);
  void stub()
    .talkTo(`child-${parent}`)
    .catch(() => undefined);
  await vi.waitFor(() => expect(caller.unanswered).toBe(16), patient);
  // It stands still: between two looks, far apart for a provider that is always ready, nothing was read.
  let before = -1;
  await vi.waitFor(
    () => {
      const hasMoved = taken.parts !== before;
      before = taken.parts;
      expect(hasMoved).toBe(false);
    },
    { ...patient, interval: 200 }
  );
  expect(taken.parts).toBeLessThan(1_000);
  await crash(stub());
});
