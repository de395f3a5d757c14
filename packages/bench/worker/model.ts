/**
 * The model of every side. It says as many words as the question asks for, as fast as they are taken or at a pace, so that a turn is nothing
 * but its own work.
 *
 * The question is the JSON of a `Plan` (`../src/clients.ts`).
 */
import type { LanguageModel } from "ai";

type Model = Extract<LanguageModel, { readonly specificationVersion: "v4" }>;
type Prompt = Parameters<Model["doStream"]>[0]["prompt"];
type Part =
  Awaited<ReturnType<Model["doStream"]>>["stream"] extends ReadableStream<infer Item> ? Item : never;

interface Plan {
  readonly deltas: number;
  /** Pause between two words, in ms. 0: none. */
  readonly pauseMs: number;
}

const WORDS = ["The ", "keeper ", "wrote ", "down ", "what ", "the ", "night ", "had ", "said. "];

export function plannedModel(): LanguageModel {
  return {
    specificationVersion: "v4",
    provider: "bench",
    modelId: "planned",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("The bench only streams.")),
    doStream: ({ prompt }) => Promise.resolve({ stream: words(planOf(prompt)) })
  } satisfies Model;
}

function planOf(prompt: Prompt): Plan {
  const question = prompt.findLast(({ role }) => role === "user")?.content;
  const [part] = typeof question === "object" ? question : [];
  if (part?.type !== "text") throw new Error("The bench asks with the JSON of a plan.");
  return JSON.parse(part.text) as Plan;
}

function words({ deltas, pauseMs }: Plan): ReadableStream<Part> {
  let said = 0;
  return new ReadableStream<Part>({
    start(controller) {
      controller.enqueue({ type: "stream-start", warnings: [] });
      controller.enqueue({ type: "text-start", id: "1" });
    },
    async pull(controller) {
      if (said < deltas) {
        if (pauseMs > 0) await scheduler.wait(pauseMs);
        controller.enqueue({ type: "text-delta", id: "1", delta: WORDS[said % WORDS.length] ?? "" });
        said += 1;
        return;
      }
      controller.enqueue({ type: "text-end", id: "1" });
      controller.enqueue(finish(deltas));
      controller.close();
    }
  });
}

function finish(deltas: number): Part {
  return {
    type: "finish",
    finishReason: { unified: "stop", raw: "stop" },
    usage: {
      inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: deltas, text: deltas, reasoning: 0 }
    }
  };
}
