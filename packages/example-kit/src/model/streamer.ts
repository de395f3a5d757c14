/**
 * Plays a {@link Plan} as a model stream: word-sized pieces with small pauses, like a model on a good day.
 * Called by the model.
 *
 * Invariants: (1) an aborted signal stops the stream within one pause and ends it with the signal's reason;
 * (2) every part that is opened is closed before the next one opens; (3) the pieces joined are the plan's text.
 */
import type { FinishReason, Pace, Plan, StreamPart, Utterance } from "./types";

/** Pause after each word in milliseconds. The story's 620 words at the slow pace take about forty seconds. */
export const PAUSE: Readonly<Record<Pace | "reasoning" | "tool", number>> = {
  brisk: 18,
  steady: 36,
  slow: 64,
  reasoning: 22,
  tool: 40
};

export interface StreamerOptions {
  readonly generateId: () => string;
  /** Resolves after the pause, or rejects with the signal's reason as soon as it is aborted. */
  readonly pause: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;
  readonly abortSignal: AbortSignal | undefined;
}

export function streamPlan(plan: Plan, options: StreamerOptions): ReadableStream<StreamPart> {
  const parts = play(plan, options);
  return new ReadableStream<StreamPart>({
    async pull(controller) {
      try {
        const next = await parts.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      } catch (error) {
        controller.error(error);
      }
    },
    async cancel() {
      await parts.return(undefined);
    }
  });
}

async function* play(plan: Plan, options: StreamerOptions): AsyncGenerator<StreamPart, undefined> {
  yield { type: "stream-start", warnings: [] };
  for (const utterance of plan) yield* playUtterance(utterance, options);
  const words = plan.reduce((total, utterance) => total + wordsIn(utterance), 0);
  yield {
    type: "finish",
    finishReason: { unified: finishReasonOf(plan), raw: undefined },
    usage: usageOf(words)
  };
  return undefined;
}

async function* playUtterance(utterance: Utterance, options: StreamerOptions): AsyncGenerator<StreamPart> {
  const { abortSignal, generateId, pause } = options;
  const id = generateId();
  switch (utterance.type) {
    case "text":
    case "reasoning": {
      const milliseconds = utterance.type === "text" ? PAUSE[utterance.pace] : PAUSE.reasoning;
      yield { type: `${utterance.type}-start`, id };
      for (const delta of splitWords(utterance.text)) {
        await pause(milliseconds, abortSignal);
        yield { type: `${utterance.type}-delta`, id, delta };
      }
      yield { type: `${utterance.type}-end`, id };
      return;
    }
    case "tool-call": {
      const { toolName } = utterance.call;
      const input = JSON.stringify(utterance.call.input);
      yield { type: "tool-input-start", id, toolName };
      for (const delta of splitWords(input)) {
        await pause(PAUSE.tool, abortSignal);
        yield { type: "tool-input-delta", id, delta };
      }
      yield { type: "tool-input-end", id };
      yield { type: "tool-call", toolCallId: id, toolName, input };
      return;
    }
    case "error":
      yield { type: "error", error: new Error(utterance.message) };
  }
}

/** Splits text into words, each with the white space that follows it. Joining the pieces gives the text back. */
export function splitWords(text: string): readonly string[] {
  return text.match(/\s*\S+\s*/g) ?? (text === "" ? [] : [text]);
}

export function finishReasonOf(plan: Plan): FinishReason {
  const last = plan.at(-1);
  if (last?.type === "tool-call") return "tool-calls";
  return last?.type === "error" ? "error" : "stop";
}

function wordsIn(utterance: Utterance): number {
  return utterance.type === "text" || utterance.type === "reasoning" ? splitWords(utterance.text).length : 1;
}

/** Counts words, which is honest enough for a model that has no tokens. */
export function usageOf(words: number) {
  return {
    inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: words, text: words, reasoning: undefined }
  };
}

/** The real pause: a timer that gives way to the signal. */
export function pauseFor(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(reasonOf(signal));
      return;
    }
    const stop = (): void => {
      clearTimeout(timer);
      if (signal !== undefined) reject(reasonOf(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error
    ? signal.reason
    : new DOMException("The answer was stopped.", "AbortError");
}
