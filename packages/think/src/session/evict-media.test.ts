import type { UIMessage } from "ai";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evictMedia, isOriginalOf } from "./evict-media";

const message = (...parts: unknown[]): UIMessage => ({
  id: "m1",
  role: "assistant",
  parts: parts as UIMessage["parts"]
});
const tool = (output: unknown, type = "tool-shot") => ({
  type,
  toolName: "shot",
  toolCallId: "t",
  state: "output-available",
  input: {},
  output
});
const image = (bytes: number, mediaType = "image/png") => {
  const start = `data:${mediaType};base64,`;
  return { type: "file", mediaType, url: start + "A".repeat(bytes - start.length) };
};
const options = { minPartBytes: 100, externalize: true };

describe("§6.7 what is evicted", () => {
  it("a large data URL becomes a text that says what it was and where it is", () => {
    const {
      message: evicted,
      files,
      bytes
    } = evictMedia(message({ type: "text", text: "look" }, image(200)), options);
    expect(evicted.parts).toEqual([
      { type: "text", text: "look" },
      { type: "text", text: "[evicted image/png, 200 bytes; preserved at /attachments/evicted/m1-0.png]" }
    ]);
    expect(files).toEqual([{ path: "/attachments/evicted/m1-0.png", content: image(200).url }]);
    expect(bytes).toBe(200);
  });

  it("long strings in tool outputs are replaced in place, counted per message", () => {
    const output = {
      shots: [{ data: image(150, "image/svg+xml").url }],
      log: "x".repeat(100),
      note: "short"
    };
    const { message: evicted, files } = evictMedia(
      message(tool(output), tool("y".repeat(101), "dynamic-tool")),
      options
    );
    expect(evicted.parts[0]).toMatchObject({
      output: {
        shots: [
          { data: "[evicted image/svg+xml, 150 bytes; preserved at /attachments/evicted/m1-0.svgxml]" }
        ],
        log: "[evicted 100 bytes; preserved at /attachments/evicted/m1-1.txt]",
        note: "short"
      }
    });
    expect(evicted.parts[1]).toMatchObject({
      output: "[evicted 101 bytes; preserved at /attachments/evicted/m1-2.txt]"
    });
    expect(files).toHaveLength(3);
  });

  it("markers name no path when the originals are not kept", () => {
    const { message: evicted } = evictMedia(message(image(200)), { ...options, externalize: false });
    expect(evicted.parts[0]).toMatchObject({ text: "[evicted image/png, 200 bytes]" });
  });

  it("texts, other URLs, inputs, small strings and what is nested too deep stay", () => {
    let deep: unknown = "x".repeat(200);
    for (let level = 0; level < 9; level += 1) deep = [deep];
    const original = message(
      { type: "text", text: "x".repeat(500) },
      { type: "file", mediaType: "image/png", url: `https://example.com/${"x".repeat(200)}` },
      { ...tool("small"), input: { text: "x".repeat(500) } },
      tool(deep),
      image(99)
    );
    expect(evictMedia(original, options).message).toBe(original);
  });

  it.each([
    ["image/png", "png"],
    ["application/vnd.ms-excel", "vndmsexcel"],
    ["image/", "bin"],
    ["nonsense", "txt"],
    ["text/plain; charset=utf-8", "plain"]
  ])("a file of type %s ends in .%s", (mediaType, extension) => {
    const part = { type: "file", mediaType, url: `data:,${"x".repeat(200)}` };
    expect(evictMedia(message(part), options).files[0]?.path).toBe(`/attachments/evicted/m1-0.${extension}`);
  });

  it("no id can leave the folder or clash with another", () => {
    const path = (id: string) => evictMedia({ ...message(image(200)), id }, options).files[0]?.path ?? "";
    const ids = ["../../etc/passwd", "..", "a/b", "a_b", "a\\b", "\u0000", "\uD800", "x".repeat(200)];
    for (const id of ids) expect(path(id)).toMatch(/^\/attachments\/evicted\/[\w-]{1,130}\.png$/);
    expect(new Set(ids.map(path)).size).toBe(ids.length);
  });
});

describe("§6.7 evicting again", () => {
  const part = fc.oneof(
    fc.integer({ min: 60, max: 300 }).map((bytes) => image(bytes)),
    fc.jsonValue().map((value) => tool(value)),
    fc.array(fc.string({ maxLength: 300, unit: "binary" })).map((value) => tool({ value })),
    fc.record({ type: fc.constant("text"), text: fc.string({ maxLength: 300 }) })
  );

  it("changes nothing more, and the original is recognised when a client sends it again", () => {
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 5 }),
        fc.boolean(),
        fc.constantFrom(1, 20, 100),
        (parts, externalize, minPartBytes) => {
          const original = message(...parts);
          const once = evictMedia(original, { minPartBytes, externalize });
          expect(evictMedia(once.message, { minPartBytes, externalize }).message).toBe(once.message);
          expect(isOriginalOf(original, once.message)).toBe(true);
          expect(once.bytes).toBe(
            once.files.reduce((sum, { content }) => sum + new TextEncoder().encode(content).length, 0)
          );
        }
      )
    );
  });

  it("an edited message is not taken for the original", () => {
    const { message: evicted } = evictMedia(message(image(200), { type: "text", text: "a" }), options);
    expect(isOriginalOf(message(image(201), { type: "text", text: "a" }), evicted)).toBe(false);
    expect(isOriginalOf(message(image(200), { type: "text", text: "b" }), evicted)).toBe(false);
  });
});
