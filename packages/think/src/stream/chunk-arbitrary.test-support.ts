/** Random but well-formed streams of UI message chunks, for property tests. */
import type { UIMessageChunk } from "ai";
import fc from "fast-check";

const metadata = fc.option(fc.constant({ openai: { itemId: "x" } }), { nil: undefined });

const withMetadata = <Chunk extends object>(chunk: Chunk, providerMetadata: unknown) =>
  providerMetadata === undefined ? chunk : { ...chunk, providerMetadata };

const streamedText = (type: "text" | "reasoning") =>
  fc
    .record({ id: fc.uuid(), deltas: fc.array(fc.string(), { maxLength: 6 }), ended: fc.boolean(), metadata })
    .map(({ id, deltas, ended, metadata: provider }) => [
      withMetadata({ type: `${type}-start`, id }, provider),
      ...deltas.map((delta) => ({ type: `${type}-delta`, id, delta })),
      ...(ended ? [{ type: `${type}-end`, id }] : [])
    ]);

const toolEnd = fc.constantFrom("none", "output", "error", "denied", "approval");

const toolCall = fc
  .record({
    id: fc.uuid(),
    name: fc.constantFrom("read", "write"),
    input: fc.dictionary(fc.string(), fc.jsonValue()),
    end: toolEnd,
    streamed: fc.boolean(),
    dynamic: fc.boolean(),
    output: fc.jsonValue()
  })
  .map(({ id: toolCallId, name: toolName, input, end, streamed, dynamic, output }) => {
    const identity = { toolCallId, toolName, ...(dynamic ? { dynamic: true } : {}) };
    const ends: Record<string, object[]> = {
      none: [],
      output: [{ type: "tool-output-available", toolCallId, output }],
      error: [{ type: "tool-output-error", toolCallId, errorText: "no" }],
      denied: [{ type: "tool-output-denied", toolCallId }],
      approval: [{ type: "tool-approval-request", toolCallId, approvalId: "a" }]
    };
    return [
      ...(streamed
        ? [
            { type: "tool-input-start", ...identity },
            { type: "tool-input-delta", toolCallId, inputTextDelta: "{" },
            { type: "tool-input-delta", toolCallId, inputTextDelta: "}" }
          ]
        : []),
      { type: "tool-input-available", ...identity, input },
      ...(ends[end] ?? [])
    ];
  });

const other = fc.constantFrom<object[]>(
  [{ type: "start-step" }],
  [{ type: "finish-step" }],
  [{ type: "file", mediaType: "image/png", url: "data:," }],
  [{ type: "source-url", sourceId: "s", url: "https://example.com" }],
  [{ type: "data-weather", id: "w", data: { degrees: 20 } }],
  [{ type: "data-note", data: "x", transient: true }],
  [{ type: "message-metadata", messageMetadata: { model: "m" } }]
);

/** A whole stream: start, any number of parts, maybe a finish. */
export const chunkStream: fc.Arbitrary<UIMessageChunk[]> = fc
  .record({
    parts: fc.array(fc.oneof(streamedText("text"), streamedText("reasoning"), toolCall, other), {
      maxLength: 12
    }),
    finished: fc.boolean()
  })
  .map(({ parts, finished }) => {
    const chunks = [
      { type: "start", messageId: "m" },
      ...parts.flat(),
      ...(finished ? [{ type: "finish" }] : [])
    ];
    // What comes over a wire is JSON, which knows no -0.
    return JSON.parse(JSON.stringify(chunks)) as UIMessageChunk[];
  });
