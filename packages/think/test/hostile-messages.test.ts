/** Bad input (issue 3): messages that the schema lets pass, with parts of any shape. None of them may spoil the conversation for good. */
import { exports } from "cloudflare:workers";
import { connectChat, scriptedModel } from "@cloudflare/think/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { useModel } from "./worker/chat-agents";

let counter = 0;

async function newChat() {
  const name = `hostile-messages-${(counter += 1)}`;
  useModel(
    name,
    scriptedModel(() => "fine")
  );
  return connectChat(exports.default, { agent: "ChatAgent", name, timeout: 15_000 });
}

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(null, 7, "", "x", [], {}, "\ud800", "data:nonsense", "data:image/png;base64,%%%")
);

/** A part of a known type whose other fields are of any type, or missing. */
const part = fc
  .record({
    type: fc.constantFrom(
      ...[
        "text",
        "reasoning",
        "file",
        "source-url",
        "source-document",
        "step-start",
        "data-x",
        "dynamic-tool"
      ],
      ...["tool-add", "tool-", "tool-constructor", "nonsense", ""]
    ),
    fields: fc.dictionary(
      fc.constantFrom(
        ...[
          "text",
          "state",
          "toolCallId",
          "toolName",
          "input",
          "output",
          "errorText",
          "url",
          "mediaType",
          "filename"
        ],
        ...[
          "approval",
          "providerMetadata",
          "callProviderMetadata",
          "data",
          "id",
          "preliminary",
          "providerExecuted"
        ]
      ),
      odd,
      { maxKeys: 6 }
    ),
    state: fc.option(
      fc.constantFrom(
        ...["input-streaming", "input-available", "approval-requested", "approval-responded"],
        ...["output-available", "output-error", "output-denied"]
      ),
      { nil: undefined }
    ),
    call: fc.option(fc.constantFrom("c1", "c2"), { nil: undefined })
  })
  .map(({ type, fields, state, call }) => ({
    ...fields,
    type,
    ...(state === undefined ? {} : { state }),
    ...(call === undefined ? {} : { toolCallId: call })
  }));

const message = fc.record({
  role: fc.constantFrom("user", "assistant", "system"),
  parts: fc.array(part, { maxLength: 4 }),
  metadata: fc.option(odd, { nil: undefined })
});

describe("a hostile message", () => {
  it(
    "with parts of any shape ends its turn, and the next question is answered",
    { timeout: 120_000 },
    async () => {
      const spoiled: unknown[] = [];
      for (const messages of fc.sample(fc.array(message, { minLength: 1, maxLength: 3 }), {
        numRuns: 150,
        seed: 20_261_118
      })) {
        const client = await newChat();
        const list = messages.map((one, index) => ({ id: `m${index}`, ...one }));
        await client.chat(list as never).done;
        const { text, error } = await client.chat("And now?").done;
        if (text !== "fine") spoiled.push({ error, list: JSON.stringify(list).slice(0, 1_500) });
        await client.close();
      }
      expect(spoiled).toEqual([]);
    }
  );
});
