import type { UIMessageChunk } from "ai";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MessageAccumulator } from "./accumulator";
import { chunkStream } from "./chunk-arbitrary.test-support";
import { ChunkPack, mergeChunks, unpackChunks } from "./chunk-packing";
import { messageToChunks } from "./message-chunks";

function messageOf(chunks: Iterable<UIMessageChunk>) {
  const accumulator = new MessageAccumulator("m");
  for (const chunk of chunks) accumulator.apply(chunk);
  accumulator.close();
  return accumulator.snapshot();
}

describe("replay", () => {
  it("builds the same message from packed rows as from the live stream, wherever the rows were cut", () => {
    fc.assert(
      fc.property(
        chunkStream,
        fc.array(fc.boolean(), { minLength: 80, maxLength: 80 }),
        fc.boolean(),
        (chunks, cuts, counted) => {
          const rows: string[] = [];
          const pack = new ChunkPack({ counted });
          chunks.forEach((chunk, index) => {
            pack.add(chunk, JSON.stringify(chunk).length);
            if (!cuts[index % cuts.length]) return;
            rows.push(pack.pack());
            pack.clear();
          });
          const stored = [...rows.flatMap(unpackChunks), ...pack.chunks()];
          expect(messageOf(stored)).toEqual(messageOf(chunks));
          expect(messageOf(mergeChunks(stored))).toEqual(messageOf(chunks));
        }
      )
    );
  });

  it("builds the same message from the stored message as from the live stream", () => {
    fc.assert(
      fc.property(chunkStream, (chunks) => {
        const message = messageOf(chunks);
        expect(messageOf(messageToChunks(message))).toEqual(message);
      })
    );
  });

  it("brings back exactly the chunks of a counted stream", () => {
    fc.assert(
      fc.property(chunkStream, (chunks) => {
        const pack = new ChunkPack({ counted: true });
        for (const chunk of chunks) pack.add(chunk, 1);
        expect(unpackChunks(pack.pack())).toEqual(chunks);
      })
    );
  });

  it("brings back whatever a model said, odd keys and deep nesting included", () => {
    const deep = JSON.parse("[".repeat(500) + "]".repeat(500)) as unknown;
    const input = JSON.parse('{"__proto__":[1]}') as unknown;
    const chunks = [
      { type: "tool-input-available", toolCallId: "c", toolName: "read", input },
      { type: "tool-output-available", toolCallId: "c", output: deep }
    ] as UIMessageChunk[];
    const pack = new ChunkPack();
    for (const chunk of chunks) pack.add(chunk, 1);
    expect(unpackChunks(pack.pack())).toEqual(chunks);
  });

  it("merges ten thousand deltas into one", () => {
    const deltas = Array.from(
      { length: 10_000 },
      () => ({ type: "text-delta", id: "t", delta: "a" }) as const
    );
    expect(
      mergeChunks([{ type: "text-start", id: "t" }, ...deltas, { type: "text-end", id: "t" }])
    ).toHaveLength(3);
  });
});

describe("unpackChunks", () => {
  it("reads the layouts of earlier releases: one chunk, or a list of JSON texts", () => {
    const chunk = { type: "text-delta", id: "t", delta: "x" };
    expect(unpackChunks(JSON.stringify(chunk))).toEqual([chunk]);
    expect(unpackChunks(JSON.stringify([JSON.stringify(chunk), JSON.stringify(chunk)]))).toEqual([
      chunk,
      chunk
    ]);
  });

  it("yields nothing for damaged rows", () => {
    expect(unpackChunks("{broken")).toEqual([]);
    expect(unpackChunks('["{broken", 5, null]')).toEqual([]);
  });
});
