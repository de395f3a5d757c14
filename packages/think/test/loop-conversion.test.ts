/** Old messages are converted for the model once, and the prompt is what a conversion of everything would give; on both AI SDK majors. */
import type { ToolSet, UIMessage } from "ai";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { convertIncrementally, type Convert } from "../src/loop/convert-messages";
import { repairTranscript, failInterruptedPart } from "../src/loop/repair-transcript";
import { convertAll } from "../src/loop/sdk";
import { truncateOlderMessages } from "../src/session/truncate-messages";

type Part = UIMessage["parts"][number];

const tools = {
  plain: { description: "", inputSchema: {} },
  shaped: { description: "", inputSchema: {}, toModelOutput: () => ({ type: "text", value: "shaped" }) }
} as unknown as ToolSet;

const json = fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.dictionary(fc.string(), fc.string()));
const metadata = fc.option(fc.constant({ provider: { cached: true } }), { nil: undefined });

const toolPart = fc
  .record({
    form: fc.constantFrom("tool-plain", "tool-shaped", "tool-gone", "dynamic-tool"),
    state: fc.constantFrom(
      ...["input-streaming", "input-available", "approval-requested", "approval-responded"],
      ...["output-available", "output-error", "output-denied"]
    ),
    id: fc.string({ minLength: 1 }),
    output: fc.oneof(json, fc.constant("y".repeat(900))),
    executed: fc.option(fc.boolean(), { nil: undefined }),
    preliminary: fc.option(fc.boolean(), { nil: undefined }),
    metadata
  })
  .map(({ form, state, id, output, executed, preliminary, metadata: callProviderMetadata }) => ({
    type: form,
    ...(form === "dynamic-tool" ? { toolName: "shaped" } : {}),
    toolCallId: id,
    state,
    input: { a: 1 },
    ...(state === "output-available" ? { output, preliminary } : {}),
    ...(state === "output-error" ? { errorText: "it broke" } : {}),
    ...(state.startsWith("approval") || state === "output-denied"
      ? {
          approval: {
            id: `a-${id}`,
            ...(state === "approval-requested" ? {} : { approved: id.length > 1, reason: "r" })
          }
        }
      : {}),
    ...(executed === undefined ? {} : { providerExecuted: executed }),
    ...(callProviderMetadata === undefined ? {} : { callProviderMetadata })
  }));

const textPart = fc
  .record({
    type: fc.constantFrom("text", "reasoning"),
    text: fc.oneof(fc.string(), fc.constant("z".repeat(10_500))),
    metadata
  })
  .map(({ type, text, metadata: providerMetadata }) => ({
    ...{ type, text },
    ...(providerMetadata === undefined ? {} : { providerMetadata })
  }));

const filePart = fc.constant({ type: "file", mediaType: "image/png", url: "data:image/png;base64,AAAA" });
const otherPart = fc.constantFrom({ type: "step-start" }, { type: "data-chart", data: { x: 1 } });

const message: fc.Arbitrary<UIMessage> = fc
  .record({
    id: fc.uuid(),
    role: fc.constantFrom<UIMessage["role"]>("user", "assistant", "assistant", "system"),
    parts: fc.array(fc.oneof(textPart, toolPart, toolPart, filePart, otherPart), { maxLength: 5 })
  })
  .map(({ id, role, parts }) => {
    const fits = (type: string) =>
      role === "assistant" ||
      type === "text" ||
      (role === "user" && (type === "file" || type.startsWith("data-")));
    return { id, role, parts: parts.filter(({ type }) => fits(type)) as Part[] };
  });

/** What the loop does with stored messages before it asks the model. */
const prepared = (stored: readonly UIMessage[]) =>
  truncateOlderMessages(repairTranscript(stored, failInterruptedPart).messages);

describe("the conversion for the model", () => {
  it("message by message gives what the whole list gives, turn after turn, with whatever tools", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 12 }), async (stored) => {
        for (let length = 1; length <= stored.length; length += 1) {
          const path = prepared(stored.slice(0, length));
          for (const offered of [tools, {}]) {
            const whole = await convertAll(structuredClone(path), offered);
            expect(await convertIncrementally(path, offered, convertAll)).toEqual(whole);
          }
        }
      }),
      { seed: 20_261_118, numRuns: 150 }
    );
  }, 60_000);

  it("converts a message once, and again only when it is cut, changed, or shaped by a tool", async () => {
    const counted: string[] = [];
    const count: Convert = (messages, offered) => {
      counted.push(...messages.map(({ id }) => id));
      return convertAll(messages, offered);
    };
    const turn = async (stored: readonly UIMessage[]) => {
      counted.length = 0;
      await convertIncrementally(prepared(stored), tools, count);
      return [...counted];
    };
    const say = (id: string, text: string): UIMessage => ({
      id,
      role: "user",
      parts: [{ type: "text", text }]
    });
    const short = Array.from({ length: 30 }, (_, index) => say(`m${index}`, "short"));
    expect(await turn(short)).toHaveLength(30);
    expect(await turn(short)).toEqual([]);
    expect(await turn([...short, say("new", "news")])).toEqual(["new"]);
    const changed = short.with(3, say("m3", "edited"));
    expect(await turn(changed)).toEqual(["m3"]);
    const long = say("long", "x".repeat(20_000));
    expect(await turn([long, ...short.slice(0, 3)])).toEqual(["long"]);
    expect(await turn([long, ...short.slice(0, 4)])).toEqual(["long"]);
    expect(await turn([long, ...short])).toEqual([]);
    const shaped: UIMessage = {
      id: "shaped",
      role: "assistant",
      parts: [{ type: "tool-shaped", toolCallId: "c", state: "output-available", input: {}, output: 1 }]
    };
    expect(await turn([shaped, ...short])).toEqual(["shaped"]);
    expect(await turn([shaped, ...short])).toEqual(["shaped"]);
  });

  it("gives copies: what an author does to the list of one turn is not in the next", async () => {
    const stored: UIMessage[] = [
      {
        id: "a",
        role: "assistant",
        parts: [
          { type: "text", text: "said" },
          { type: "tool-plain", toolCallId: "c", state: "output-available", input: {}, output: { n: 1 } }
        ]
      }
    ];
    const first = await convertIncrementally(stored, tools, convertAll);
    const untouched = structuredClone(first);
    for (const { content } of first) {
      if (typeof content === "string") continue;
      for (const part of content) {
        if ("text" in part) part.text = "changed";
        if ("output" in part) Object.assign(part.output, { type: "text", value: "changed" });
      }
      content.length = 0;
    }
    expect(await convertIncrementally(stored, tools, convertAll)).toEqual(untouched);
  });
});
