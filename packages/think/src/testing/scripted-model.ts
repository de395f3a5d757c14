/**
 * A language model that plays a script and records what it was asked. Works with `streamText` and
 * `generateText` of every supported AI SDK major, without network. The parts live in `script.ts`,
 * their meaning in `play.ts`.
 *
 * Invariants:
 * M1. One script entry is used up per call, in order, also when the call fails or is aborted.
 * M2. A call is in `calls` before its script entry is looked up, so that an exhausted script shows too.
 */
import type { Clock } from "../shared/clock";
import { collect } from "./collect";
import type {
  ModelCallOptions,
  ModelGenerateResult,
  ModelStreamPart,
  ModelStreamResult,
  SpecificationModel
} from "./model-types";
import { aborted, isWait, play, wait, type PlayHost } from "./play";
import { poll } from "./poll";
import {
  text,
  type ScriptAnswer,
  type ScriptFunction,
  type ScriptPart,
  type ScriptStep,
  type ScriptUsage
} from "./script";
import { recordCall, toolCallIdsOf, type CallRecord, type ScriptedCall } from "./scripted-call";

/** A script: one entry per model call, or one function that answers every call. */
export type Script = readonly ScriptStep[] | ScriptFunction;

/** What a model does when it is called more often than its script has entries. */
export type ExhaustedPolicy = "error" | "repeat-last" | "restart" | ScriptFunction;

export interface ScriptedModelOptions {
  /** What to do after the last entry. Default `"error"`: the call fails and says how long the script was. */
  readonly onExhausted?: ExhaustedPolicy;
  /** Characters per text delta where a part does not say. Default: each text in one delta. */
  readonly deltaSize?: number;
  /** Token counts of calls that do not say. Default 10 in, 5 out. */
  readonly usage?: ScriptUsage;
  /** The clock `delay` waits on. Default: real time. */
  readonly clock?: Clock;
  /** Default `"scripted-model"`. */
  readonly modelId?: string;
}

/** A model that plays a script; pass it wherever the AI SDK takes a model. */
export interface ScriptedModel extends SpecificationModel {
  /** Every call so far, oldest first. */
  readonly calls: readonly ScriptedCall[];
  /** Adds entries to the end of the script. */
  push(...steps: readonly ScriptStep[]): void;
}

/** Real milliseconds a `delay` on a test clock may take. */
const longestSleep = 60_000;

const defaultUsage: ScriptUsage = { inputTokens: 10, outputTokens: 5 };

/**
 * Makes a model that answers its first call with the first entry of the script, its second call with the
 * second, and so on.
 *
 * @example
 * const model = scriptedModel([[text("Let me look."), toolCall("read", { path: "/a" })], "Done."]);
 */
export function scriptedModel(script: Script, options: ScriptedModelOptions = {}): ScriptedModel {
  const steps: ScriptStep[] = typeof script === "function" ? [script] : [...script];
  const exhausted = options.onExhausted ?? (typeof script === "function" ? "repeat-last" : "error");
  const calls: ScriptedCall[] = [];

  async function begin(kind: ScriptedCall["kind"], request: ModelCallOptions, stop?: AbortSignal) {
    const record = recordCall(calls.length, kind, request);
    calls.push(record.call);
    try {
      const step = stepAt(steps, record.call.index, exhausted);
      const parts = partsOf(typeof step === "function" ? await step(record.call) : step);
      const host = playHost(options, request, stop);
      await refuse(parts, host);
      return { record, parts: play(parts, host), signal: host.signal };
    } catch (error) {
      record.settle(request.abortSignal?.aborted === true ? "aborted" : "failed");
      throw error;
    }
  }

  return {
    specificationVersion: "v3",
    provider: "scripted",
    modelId: options.modelId ?? "scripted-model",
    // Every address is "supported", so the SDK hands files over by address instead of downloading them.
    supportedUrls: { "*/*": [/^https?:/u] },
    calls,
    push: (...more) => void steps.push(...more),
    async doStream(request): Promise<ModelStreamResult> {
      const cancelled = new AbortController();
      const { record, parts, signal } = await begin("stream", request, cancelled.signal);
      return { stream: toStream(track(parts, record, signal), cancelled) };
    },
    async doGenerate(request): Promise<ModelGenerateResult> {
      const { record, parts, signal } = await begin("generate", request);
      return collect(track(parts, record, signal));
    }
  };
}

function stepAt(steps: readonly ScriptStep[], index: number, exhausted: ExhaustedPolicy): ScriptStep {
  const step = steps[index];
  if (step !== undefined) return step;
  if (typeof exhausted === "function") return exhausted;
  const again = exhausted === "restart" ? steps[index % steps.length] : steps.at(-1);
  if (exhausted !== "error" && again !== undefined) return again;
  throw new Error(
    `The scripted model was called ${index + 1} times, but its script has ${steps.length} ` +
      `${steps.length === 1 ? "entry" : "entries"}. Add an entry for this call, or set onExhausted.`
  );
}

function partsOf(answer: ScriptAnswer): readonly ScriptPart[] {
  const list = typeof answer === "string" || "type" in answer ? [answer] : answer;
  return list.map((part) => (typeof part === "string" ? text(part) : part));
}

function playHost(options: ScriptedModelOptions, request: ModelCallOptions, stop?: AbortSignal): PlayHost {
  const { clock } = options;
  const used = toolCallIdsOf(request.prompt);
  let number = 0;
  const signals = [request.abortSignal, stop].filter((candidate) => candidate !== undefined);
  const signal = signals.length > 1 ? AbortSignal.any(signals) : signals[0];
  return {
    deltaSize: options.deltaSize,
    usage: options.usage ?? defaultUsage,
    signal,
    nextToolCallId() {
      do number += 1;
      while (used.has(`call-${number}`));
      return `call-${number}`;
    },
    sleep: (ms) => sleep(ms, clock, signal)
  };
}

async function sleep(ms: number, clock: Clock | undefined, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  if (clock === undefined) {
    let stop = () => {};
    const elapsed = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      stop = () => clearTimeout(timer);
    });
    await Promise.race([elapsed, aborted(signal)]).finally(() => stop());
    return;
  }
  // The test advances the clock from its own I/O context, so the timer only raises a flag.
  let isOver = false;
  const timer = clock.setTimer(() => {
    isOver = true;
  }, ms);
  const failure = `The clock was not advanced by ${ms} ms within ${longestSleep} ms of real time.`;
  await poll(() => isOver, { timeout: longestSleep, failure, signal }).finally(() => timer.cancel());
}

/** A script that throws before any output refuses the call itself; its waits then belong to the call too. */
async function refuse(parts: readonly ScriptPart[], host: PlayHost): Promise<void> {
  const first = parts.find((part) => !isWait(part));
  if (first?.type !== "throw") return;
  for (const part of parts) {
    host.signal?.throwIfAborted();
    if (part === first) throw first.error;
    if (isWait(part)) await wait(part, host);
  }
}

/** Passes the parts on and notes in the record how the call ended. */
async function* track(
  parts: AsyncGenerator<ModelStreamPart, void>,
  record: CallRecord,
  signal: AbortSignal | undefined
): AsyncGenerator<ModelStreamPart, void> {
  try {
    for await (const part of parts) {
      if (part.type === "finish") record.settle("finished");
      yield part;
    }
    record.settle("finished");
  } catch (error) {
    record.settle(signal?.aborted === true ? "aborted" : "failed");
    throw error;
  } finally {
    // Reached with the status still open only when the consumer stopped reading.
    record.settle("aborted");
  }
}

function toStream(
  parts: AsyncGenerator<ModelStreamPart, void>,
  cancelled: AbortController
): ReadableStream<ModelStreamPart> {
  return new ReadableStream<ModelStreamPart>(
    {
      async pull(controller) {
        try {
          const next = await parts.next();
          if (next.done === true) controller.close();
          else controller.enqueue(next.value);
        } catch (error) {
          // A cancelled reader has closed the controller already; there is nobody left to tell.
          if (!cancelled.signal.aborted) controller.error(error);
        }
      },
      async cancel() {
        cancelled.abort();
        await parts.return();
      }
    },
    // Nothing is produced before it is asked for, so that gates and delays hold exactly where they stand.
    { highWaterMark: 0 }
  );
}
