import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createResponseEncoder } from "./encode";

describe("the response encoder", () => {
  it("writes valid JSON for any id, chunk and error text", () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.jsonValue(),
        fc.string(),
        fc.boolean(),
        (requestId, chunk, error, continuation) => {
          const encoder = createResponseEncoder({ requestId, continuation });
          const chunkJson = JSON.stringify(chunk);
          expect(JSON.parse(encoder.chunk(chunkJson, 7))).toEqual({
            type: "cf_agent_use_chat_response",
            id: requestId,
            body: chunkJson,
            done: false,
            seq: 7,
            ...(continuation ? { continuation: true } : {})
          });
          expect(JSON.parse(encoder.end({ outcome: "error", error }, true))).toMatchObject({
            body: error,
            done: true,
            error: true,
            outcome: "error",
            replay: true
          });
        }
      )
    );
  });

  it("leaves flags out unless they are true", () => {
    const encoder = createResponseEncoder({ requestId: "r", continuation: false });
    expect(JSON.parse(encoder.end({ outcome: "completed" }))).toEqual({
      type: "cf_agent_use_chat_response",
      id: "r",
      body: "",
      done: true,
      outcome: "completed"
    });
    expect(JSON.parse(encoder.replayComplete())).toEqual({
      type: "cf_agent_use_chat_response",
      id: "r",
      body: "",
      done: false,
      replay: true,
      replayComplete: true
    });
  });
});
