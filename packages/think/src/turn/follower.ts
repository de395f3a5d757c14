/** Those who follow one turn from outside, besides the connected clients. */
import type { UIMessageChunk } from "ai";
import type { ChunkSink } from "./consume";
import type { TurnOutcome } from "./turn";

/** Someone who follows one turn from outside, such as an RPC caller. */
export interface TurnFollower {
  chunk(json: string, chunk: UIMessageChunk): void | Promise<void>;
  /** The turn has ended and its place in the queue is free. Runs before the response hook. */
  ended(outcome: TurnOutcome): void | Promise<void>;
}

/** A sink that also tells the follower; the stream waits for both. */
export function withFollower(sink: ChunkSink, follower: TurnFollower | undefined): ChunkSink {
  if (!follower) return sink;
  return {
    foreignTool: (chunk) => sink.foreignTool(chunk),
    chunk(chunk, json) {
      const own = sink.chunk(chunk, json);
      const other = follower.chunk(json, chunk);
      return own && other ? Promise.all([own, other]).then(() => undefined) : (own ?? other);
    }
  };
}
