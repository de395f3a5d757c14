/**
 * Turn events -> response frames. Live streaming and replay use the same encoder, so that a reconnecting client sees
 * what a live one saw.
 *
 * The chunk path runs once per delta. It builds the frame by concatenation around one `JSON.stringify`, because
 * stringifying an object that holds a string of JSON costs a second pass over every character.
 */
import { FRAME, type ServerFrame, type WireOutcome } from "./frames";

export interface ResponseEncoder {
  /** One chunk; `chunkJson` is the chunk as JSON text. */
  chunk(chunkJson: string, seq: number, replay?: boolean): string;
  /** All stored chunks are sent and the stream is still running. */
  replayComplete(): string;
  /** The terminal frame: exactly one per request and connection. */
  end(end: ResponseEnd, replay?: boolean): string;
}

export type ResponseEnd =
  | { readonly outcome: "error"; readonly error: string }
  | { readonly outcome: Exclude<WireOutcome, "error"> };

export interface ResponseEncoderOptions {
  readonly requestId: string;
  /** Whether the turn continues the previous assistant message. */
  readonly continuation: boolean;
  /** The user messages that the request ended with: clients settle what they sent by these ids. */
  readonly messageIds?: readonly string[] | undefined;
}

export function createResponseEncoder(options: ResponseEncoderOptions): ResponseEncoder {
  const { requestId, continuation, messageIds } = options;
  const head = `{"type":"${FRAME.chatResponse}","id":${JSON.stringify(requestId)},"body":`;
  const flags = continuation ? ',"continuation":true' : "";
  const origin = messageIds?.length ? `,"messageIds":${JSON.stringify(messageIds)}` : "";
  const replayFlag = (replay: boolean | undefined) => (replay ? ',"replay":true' : "");
  return {
    chunk: (chunkJson, seq, replay) =>
      `${head}${JSON.stringify(chunkJson)},"done":false,"seq":${seq}${flags}${replayFlag(replay)}}`,
    replayComplete: () => `${head}"","done":false${flags},"replay":true,"replayComplete":true}`,
    end: (end, replay) => {
      const body =
        end.outcome === "error" ? `${JSON.stringify(end.error)},"done":true,"error":true` : `"","done":true`;
      return `${head}${body},"outcome":"${end.outcome}"${origin}${flags}${replayFlag(replay)}}`;
    }
  };
}

/** Every frame that is not a response. */
export function encodeFrame(
  frame: Exclude<ServerFrame, { readonly type: typeof FRAME.chatResponse }>
): string {
  return JSON.stringify(frame);
}
