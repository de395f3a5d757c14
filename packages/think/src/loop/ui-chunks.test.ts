/**
 * Compares with the SDK's own conversion: the same scripted model runs twice, once as a turn runs it and once through `streamText` and
 * `toUIMessageStream()`. Ids of the SDK come from a counter, so that two runs have the same.
 */
import {
  dynamicTool,
  stepCountIs,
  streamText,
  tool,
  toUIMessageStream,
  type LanguageModel,
  type TextStreamPart,
  type ToolSet,
  type UIMessageChunk
} from "ai";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { errorText } from "../shared/errors/error-text";
import type { CallSettings } from "./turn-config";
import { streamOnce, uiChunks, type ModelRun } from "./ui-chunks";

type Model = Extract<LanguageModel, { readonly specificationVersion: "v4" }>;
type ModelPart =
  Awaited<ReturnType<Model["doStream"]>>["stream"] extends ReadableStream<infer Item> ? Item : never;

/** One model call: its parts; an error breaks the stream there, "hang" says nothing more until the run is aborted. */
type Step = readonly (ModelPart | Error | "hang")[];

interface Played {
  readonly model: Model;
  /** Why the run cancelled the model's streams. */
  readonly cancelled: readonly unknown[];
}

function play(steps: readonly Step[], hangs: () => void = () => {}): Played {
  const cancelled: unknown[] = [];
  let call = 0;
  const stream = (parts: Step, signal: AbortSignal | undefined) => {
    let next = 0;
    return new ReadableStream<ModelPart>({
      pull(controller) {
        const part = parts[next];
        // Whoever hangs is asked again with each read.
        if (part !== "hang") next += 1;
        if (part === undefined) controller.close();
        else if (part instanceof Error) controller.error(part);
        else if (part === "hang") {
          signal?.addEventListener("abort", () => controller.error(signal.reason));
          hangs();
        } else controller.enqueue(part);
      },
      cancel: (reason) => void cancelled.push(reason)
    });
  };
  const model: Model = {
    specificationVersion: "v4",
    provider: "test",
    modelId: "test",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("Only streamed here.")),
    doStream: ({ abortSignal }) => {
      const step = steps[call] ?? [...said("Nothing more."), finish("stop")];
      call += 1;
      const [first] = step;
      // An error instead of a first part is a provider that refuses the request.
      if (first instanceof Error) return Promise.reject(first);
      return Promise.resolve({
        stream: stream([{ type: "stream-start", warnings: [] }, ...step], abortSignal)
      });
    }
  };
  return { model, cancelled };
}

const said = (text: string, id = "t"): ModelPart[] => [
  { type: "text-start", id },
  { type: "text-delta", id, delta: text },
  { type: "text-end", id }
];

const finish = (unified: "stop" | "tool-calls" | "length" | "error"): ModelPart => ({
  type: "finish",
  finishReason: { unified, raw: unified },
  usage: {
    inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 2, text: 2, reasoning: 0 }
  }
});

const call = (toolName: string, input = '{"a":1}', toolCallId = "c1"): ModelPart => ({
  type: "tool-call",
  toolCallId,
  toolName,
  input
});

const inputSchema = z.object({ a: z.number() });

/** Without a prototype, as the tools of a turn. */
const TOOLS: ToolSet = Object.assign(Object.create(null), {
  add: tool({ inputSchema, title: "Adds", execute: ({ a }) => a + 1 }),
  nothing: tool({ inputSchema, execute: () => undefined }),
  fails: tool({
    inputSchema,
    execute: (): number => {
      throw new Error("broken");
    }
  }),
  counts: tool({
    inputSchema,
    async *execute() {
      yield 1;
      yield 2;
    }
  }),
  client: tool({ inputSchema, outputSchema: z.number() }),
  asked: tool({ inputSchema, needsApproval: true, execute: () => "done" }),
  dynamic: dynamicTool({ inputSchema, execute: () => "dynamic" })
});

interface Ending {
  readonly chunks: readonly UIMessageChunk[];
  /** What the stream failed with. */
  readonly failure?: string;
}

async function read(stream: ReadableStream<UIMessageChunk>): Promise<Ending> {
  const chunks: UIMessageChunk[] = [];
  try {
    for await (const chunk of stream) chunks.push(chunk);
  } catch (error) {
    return { chunks, failure: errorText(error) };
  }
  return { chunks };
}

function settingsOf(model: Model, more: object = {}): CallSettings {
  let ids = 0;
  return {
    model,
    tools: TOOLS,
    messages: [{ role: "user", content: "Hi" }],
    stopWhen: stepCountIs(4),
    maxRetries: 0,
    onError: () => {},
    _internal: { generateId: () => `id-${(ids += 1)}` },
    ...more
  };
}

/** What a turn makes of the steps, and what the SDK makes of them. A run that hangs is aborted once nothing more can come. */
async function both(steps: readonly Step[], sendReasoning = true) {
  const ending = (chunksOf: (settings: CallSettings) => ReadableStream<UIMessageChunk>) => {
    const abort = new AbortController();
    const { model } = play(steps, () => setImmediate(() => abort.abort()));
    return read(chunksOf(settingsOf(model, { abortSignal: abort.signal })));
  };
  const ours = await ending((settings) => uiChunks(streamOnce(settings), { tools: TOOLS, sendReasoning }));
  const theirs = await ending((settings) =>
    streamText(settings).toUIMessageStream({ sendReasoning, onError: errorText })
  );
  return { ours, theirs };
}

/** A run that was made by hand: only its stream is looked at. */
function runOf(stream: ReadableStream<TextStreamPart<ToolSet>>): ModelRun {
  return {
    stream: stream as NonNullable<ModelRun["stream"]>,
    toUIMessageStream: () => {
      throw new Error("The stream is there.");
    }
  };
}

const typesOf = ({ chunks }: Ending) => chunks.map(({ type }) => type);

const REASONING: readonly ModelPart[] = [
  { type: "reasoning-start", id: "r" },
  { type: "reasoning-delta", id: "r", delta: "Hm.", providerMetadata: { test: { n: 1 } } },
  { type: "reasoning-end", id: "r" }
];

const STREAMED_CALL: readonly ModelPart[] = [
  { type: "tool-input-start", id: "c1", toolName: "add" },
  { type: "tool-input-delta", id: "c1", delta: '{"a":' },
  { type: "tool-input-delta", id: "c1", delta: "1}" },
  { type: "tool-input-end", id: "c1" },
  call("add")
];

const PROVIDER_CALL: readonly ModelPart[] = [
  {
    type: "tool-call",
    toolCallId: "p",
    toolName: "search",
    input: "{}",
    providerExecuted: true,
    dynamic: true
  },
  { type: "tool-result", toolCallId: "p", toolName: "search", result: { found: 1 }, dynamic: true }
];

const FAILED_PROVIDER_CALL: readonly ModelPart[] = [
  {
    type: "tool-call",
    toolCallId: "p",
    toolName: "search",
    input: "{}",
    providerExecuted: true,
    dynamic: true
  },
  {
    type: "tool-result",
    toolCallId: "p",
    toolName: "search",
    result: { code: 7 },
    isError: true,
    dynamic: true
  }
];

const SOURCES: readonly ModelPart[] = [
  { type: "source", sourceType: "url", id: "s", url: "https://example.com", title: "Example" },
  { type: "source", sourceType: "document", id: "d", mediaType: "text/plain", title: "A file" }
];

const FILES: readonly ModelPart[] = [
  { type: "file", mediaType: "image/png", data: { type: "data", data: "AAAA" } },
  { type: "reasoning-file", mediaType: "image/png", data: { type: "data", data: "AAAA" } },
  { type: "custom", kind: "test.custom", providerMetadata: { test: { n: 2 } } }
];

describe("the chunks of a run are those of toUIMessageStream():", () => {
  it.each<[string, readonly Step[], string]>([
    ["a text", [[...said("Hello."), finish("stop")]], "text-delta"],
    ["reasoning", [[...REASONING, ...said("So."), finish("stop")]], "reasoning-delta"],
    ["sources, which are not sent", [[...SOURCES, ...said("See."), finish("stop")]], "text-delta"],
    ["files", [[...FILES, finish("stop")]], "file"],
    ["a call with streamed input", [[...STREAMED_CALL, finish("tool-calls")]], "tool-input-delta"],
    ["a tool that returns nothing", [[call("nothing"), finish("tool-calls")]], "tool-output-available"],
    ["an input that is no JSON", [[call("add", "{oops"), finish("tool-calls")]], "tool-input-error"],
    ["an input of another shape", [[call("add", '{"a":"x"}'), finish("tool-calls")]], "tool-input-error"],
    ["a tool that does not exist", [[call("nobody"), finish("tool-calls")]], "tool-input-error"],
    ["an inherited name", [[call("constructor"), finish("tool-calls")]], "tool-input-error"],
    ["a tool that throws", [[call("fails"), finish("tool-calls")]], "tool-output-error"],
    ["preliminary outputs", [[call("counts"), finish("tool-calls")]], "tool-output-available"],
    ["a tool of the client", [[call("client"), finish("tool-calls")]], "tool-input-available"],
    ["a tool that needs an approval", [[call("asked"), finish("tool-calls")]], "tool-approval-request"],
    ["a dynamic tool", [[call("dynamic"), finish("tool-calls")]], "tool-output-available"],
    ["a tool of the provider", [[...PROVIDER_CALL, finish("stop")]], "tool-output-available"],
    ["a failed tool of the provider", [[...FAILED_PROVIDER_CALL, finish("stop")]], "tool-output-error"],
    ["an error in the stream", [[...said("So"), { type: "error", error: new Error("overloaded") }]], "error"],
    ["a request that is refused", [[new Error("refused")]], "error"],
    ["an empty stream", [[]], "error"]
  ])("%s", async (_name, steps, type) => {
    const { ours, theirs } = await both(steps);
    expect(ours).toEqual(theirs);
    expect(typesOf(ours)).toContain(type);
  });

  it("reasoning that is not to be sent", async () => {
    const { ours, theirs } = await both([[...REASONING, ...FILES, finish("stop")]], false);
    expect(ours).toEqual(theirs);
    expect(typesOf(ours)).not.toContain("reasoning-start");
  });

  it("a run that is aborted", async () => {
    const { ours, theirs } = await both([[...said("So"), "hang"]]);
    expect(ours).toEqual(theirs);
    expect(ours.chunks.at(-1)).toMatchObject({ type: "abort" });
  });

  it("a stream that breaks", async () => {
    const { ours, theirs } = await both([[...said("So"), new Error("gone")]]);
    expect(ours).toEqual(theirs);
    expect(ours.failure).toBe("gone");
  });

  it("an invalid call is one error, although the SDK reports two", async () => {
    const { ours } = await both([[call("nobody"), finish("tool-calls")]]);
    expect(typesOf(ours).filter((type) => type.endsWith("-error"))).toEqual(["tool-input-error"]);
    expect(ours.chunks).toContainEqual(expect.objectContaining({ toolName: "nobody", dynamic: true }));
  });
});

describe("random runs", () => {
  const id = fc.constantFrom("1", "2");
  const providerMetadata = fc.constantFrom({}, { providerMetadata: { test: { n: 1 } } });
  const spoken = (kind: "text" | "reasoning") =>
    fc
      .tuple(id, fc.array(fc.string({ maxLength: 4 }), { maxLength: 3 }), providerMetadata)
      .map(([id, deltas, metadata]): Step => [
        { type: `${kind}-start`, id, ...metadata },
        ...deltas.map((delta): ModelPart => ({ type: `${kind}-delta`, id, delta, ...metadata })),
        { type: `${kind}-end`, id, ...metadata }
      ]);
  const input = fc.constantFrom('{"a":1}', '{"a":1}', '{"a":"x"}', "{oops", "");
  const called = fc
    .record({
      toolName: fc.constantFrom(...Object.keys(TOOLS), "nobody", "constructor", "__proto__"),
      input,
      streamed: fc.boolean()
    })
    .map(({ toolName, input, streamed }): Step => {
      const start: ModelPart = { type: "tool-input-start", id: "c", toolName };
      const delta: ModelPart = { type: "tool-input-delta", id: "c", delta: input };
      const end: ModelPart = { type: "tool-input-end", id: "c" };
      return [...(streamed ? [start, delta, end] : []), call(toolName, input, "c")];
    });
  const loose = fc.constantFrom<Step>(
    ...[...SOURCES, ...FILES].map((part) => [part]),
    ...[PROVIDER_CALL, FAILED_PROVIDER_CALL],
    [{ type: "raw", rawValue: 1 }],
    [{ type: "error", error: new Error("overloaded") }],
    [{ type: "error", error: "just text" }],
    [{ type: "text-delta", id: "never started", delta: "?" }],
    [{ type: "text-end", id: "never started" }]
  );
  const ending = fc.constantFrom<Step>(
    ...(["stop", "tool-calls", "tool-calls", "length", "error"] as const).map((reason) => [finish(reason)]),
    [],
    [new Error("gone")]
  );
  const blocks = fc.array(fc.oneof(spoken("text"), spoken("reasoning"), called, called, loose), {
    maxLength: 5
  });
  const steps = fc
    .array(fc.tuple(blocks, ending), { minLength: 1, maxLength: 3 })
    .map((steps) => steps.map(([blocks, ending], step) => withOwnIds([...blocks, ending], `${step}`)));

  /** Calls of one turn have different ids. */
  function withOwnIds(blocks: readonly Step[], prefix: string): Step {
    return blocks.flatMap((block, index) => {
      const own = `${prefix}-${index}`;
      return block.map((part) => {
        if (typeof part === "string" || part instanceof Error) return part;
        if ("toolCallId" in part) return { ...part, toolCallId: own };
        return part.type.startsWith("tool-input") ? ({ ...part, id: own } as ModelPart) : part;
      });
    });
  }

  it("have the chunks of toUIMessageStream(), one for one", async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.boolean(), async (steps, sendReasoning) => {
        const { ours, theirs } = await both(steps, sendReasoning);
        expect(ours).toEqual(theirs);
      }),
      { numRuns: 500 }
    );
  });

  it("have them when they are aborted", async () => {
    await fc.assert(
      fc.asyncProperty(blocks, async (blocks) => {
        const { ours, theirs } = await both([[...withOwnIds(blocks, "0"), "hang"]]);
        expect(ours).toEqual(theirs);
      }),
      { numRuns: 200 }
    );
  });
});

describe("the stream of chunks", () => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  /** The SDK writes the error of a provider's tool as JSON, which fails here. */
  const unwritable: TextStreamPart<ToolSet> = {
    type: "tool-error",
    toolCallId: "p",
    toolName: "search",
    input: {},
    error: circular,
    dynamic: true,
    providerExecuted: true
  };
  const delta: TextStreamPart<ToolSet> = { type: "text-delta", id: "t", text: "So" };
  const settings = { tools: TOOLS, sendReasoning: true };

  /** Parts that are counted when they are asked for. */
  function counted(parts: readonly TextStreamPart<ToolSet>[]) {
    const asked: unknown[] = [];
    const cancelled: unknown[] = [];
    const stream = new ReadableStream<TextStreamPart<ToolSet>>(
      {
        pull(controller) {
          const part = parts[asked.length];
          asked.push(part);
          if (part) controller.enqueue(part);
          else controller.close();
        },
        cancel: (reason) => void cancelled.push(reason)
      },
      { highWaterMark: 0 }
    );
    return { asked, cancelled, stream };
  }

  it("is not read ahead of its reader", async () => {
    const { asked, stream } = counted([delta, delta, delta]);
    const reader = uiChunks(runOf(stream), settings).getReader();
    expect(asked).toHaveLength(0);
    await reader.read();
    expect(asked).toHaveLength(1);
  });

  it("passes over parts without a chunk", async () => {
    const { stream } = counted([{ type: "raw", rawValue: 1 }, { type: "raw", rawValue: 2 }, delta]);
    const { chunks } = await read(uiChunks(runOf(stream), settings));
    expect(chunks).toEqual([{ type: "text-delta", id: "t", delta: "So" }]);
  });

  it("fails with a part that cannot be converted, and cancels the run, as the SDK does", async () => {
    const ours = counted([delta, unwritable, delta]);
    const theirs = counted([delta, unwritable, delta]);
    const ending = await read(uiChunks(runOf(ours.stream), settings));
    expect(ending.failure).toContain("circular");
    expect(ending).toEqual(await read(toUIMessageStream({ stream: theirs.stream, ...settings })));
    expect(ours.cancelled).toHaveLength(1);
    expect(theirs.cancelled).toHaveLength(1);
  });

  it("fails with what the run's stream fails with", async () => {
    const gone = new Error("gone");
    const stream = new ReadableStream<TextStreamPart<ToolSet>>({
      pull: (controller) => controller.error(gone)
    });
    await expect(uiChunks(runOf(stream), settings).getReader().read()).rejects.toBe(gone);
  });

  it("cancels the model's stream when it is cancelled", async () => {
    const { model, cancelled } = play([[...said("So"), "hang"]]);
    for await (const chunk of uiChunks(streamOnce(settingsOf(model)), settings))
      if (chunk.type === "text-delta") break;
    await vi.waitFor(() => expect(cancelled).toHaveLength(1));
  });

  it("is taken from toUIMessageStream() when the run has no other", () => {
    const given: unknown[] = [];
    const stream = new ReadableStream<UIMessageChunk>();
    const run = {
      toUIMessageStream: (options: unknown) => (given.push(options), stream)
    } as unknown as ModelRun;
    expect(uiChunks(run, { tools: TOOLS, sendReasoning: false })).toBe(stream);
    expect(given).toEqual([{ sendReasoning: false, onError: errorText }]);
  });

  it("can be asked for again only when the run is repeatable", async () => {
    const steps = [[...said("So"), finish("stop")]];
    const repeatable = streamText(settingsOf(play(steps).model));
    expect(await read(uiChunks(repeatable, settings))).toEqual(await read(uiChunks(repeatable, settings)));
    const once = streamOnce(settingsOf(play(steps).model));
    await read(uiChunks(once, settings));
    expect(() => uiChunks(once, settings)).toThrow("one stream consumer");
  });
});

describe("nothing is left unhandled", () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  beforeEach(() => {
    unhandled.length = 0;
    process.on("unhandledRejection", note);
  });
  afterEach(() => void process.off("unhandledRejection", note));

  const start = (steps: readonly Step[]) =>
    uiChunks(streamOnce(settingsOf(play(steps).model)), { tools: TOOLS, sendReasoning: true });

  /** Rejections are reported when the microtasks are done. */
  const settled = () => new Promise((resolve) => void setImmediate(() => setImmediate(resolve)));

  it.each<[string, () => Promise<unknown>]>([
    [
      "when the stream is cancelled in mid-way",
      async () => {
        const reader = start([[...said("So"), "hang"]]).getReader();
        await reader.read();
        const pending = reader.read();
        await reader.cancel("enough");
        return pending;
      }
    ],
    ["when it is cancelled before it is read", () => start([[...said("So"), "hang"]]).cancel()],
    ["when the model's stream breaks", () => read(start([[...said("So"), new Error("gone")]]))],
    ["when the request is refused", () => read(start([[new Error("refused")]]))],
    ["when nobody reads", async () => start([[new Error("refused")]])]
  ])("%s", async (_name, act) => {
    await act();
    await settled();
    expect(unhandled).toEqual([]);
  });
});
