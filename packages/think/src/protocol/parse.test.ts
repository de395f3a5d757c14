import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../shared/limits";
import { parseClientFrame } from "./parse";

const request = (body: unknown, extra: Record<string, unknown> = {}) =>
  JSON.stringify({
    id: "r1",
    init: { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) },
    type: "cf_agent_use_chat_request",
    ...extra
  });

const hello = { id: "m1", role: "user", parts: [{ type: "text", text: "hello" }] };

describe("parseClientFrame", () => {
  it("splits a request body into messages, trigger, client tools and the application's own fields", () => {
    const parsed = parseClientFrame(request({ messages: [hello], trigger: "regenerate-message", clientTools: [{ name: "t" }], page: 3 }));
    expect(parsed).toEqual({
      kind: "frame",
      frame: {
        type: "cf_agent_use_chat_request",
        id: "r1",
        body: { messages: [hello], trigger: "regenerate-message", clientTools: [{ name: "t" }], custom: { page: 3 } }
      }
    });
  });

  it("tells absent client tools from none", () => {
    const tools = (body: unknown) => {
      const parsed = parseClientFrame(request(body));
      return parsed.kind === "frame" && parsed.frame.type === "cf_agent_use_chat_request" ? parsed.frame.body.clientTools : "?";
    };
    expect(tools({ messages: [] })).toBeUndefined();
    expect(tools({ messages: [], clientTools: [] })).toEqual([]);
    expect(tools({ messages: [], clientTools: null })).toEqual([]);
  });

  it.each([
    ["text", "hello"],
    ["JSON null", "null"],
    ["a number", "42"],
    ["an array", "[]"],
    ["an unknown type", '{"type":"other"}'],
    ["no type", "{}"],
    ["a type that only servers send", '{"type":"cf_agent_use_chat_response","id":"x"}'],
    ["broken JSON", '{"type":'],
    ["bytes", new Uint8Array(3)]
  ])("leaves %s to the agent", (_name, data) => {
    expect(parseClientFrame(data)).toEqual({ kind: "foreign" });
  });

  it.each([
    ["a request without id", '{"type":"cf_agent_use_chat_request","init":{}}', undefined],
    ["an id of the wrong type", '{"type":"cf_agent_chat_request_cancel","id":7}', undefined],
    ["a body that is not JSON", request("{nope"), "r1"],
    ["messages that are no list", request({ messages: "x" }), "r1"],
    ["a message without parts", request({ messages: [{ id: "a", role: "user" }] }), "r1"],
    ["a message with an unknown role", request({ messages: [{ ...hello, role: "root" }] }), "r1"],
    ["a prototype key in the body", request('{"messages":[],"__proto__":{"a":1}}'), "r1"]
  ])("refuses %s and keeps the request id for the answer", (_name, data, requestId) => {
    const parsed = parseClientFrame(data);
    expect(parsed).toMatchObject({ kind: "invalid", ...(requestId ? { requestId } : {}) });
  });

  it("refuses a frame above the size limit by its ends, without parsing it", () => {
    const huge = request({ messages: [{ ...hello, parts: [{ type: "text", text: "x".repeat(LIMITS.inboundFrameChars) }] }] });
    expect(parseClientFrame(huge)).toMatchObject({ kind: "invalid", requestId: "r1", reason: expect.stringContaining("8 MiB") });
    expect(parseClientFrame("{" + "x".repeat(LIMITS.inboundFrameChars))).toEqual({ kind: "foreign" });
  });

  it("ignores requests that are not a POST or have no body", () => {
    expect(parseClientFrame('{"type":"cf_agent_use_chat_request","id":"r"}')).toEqual({ kind: "ignored" });
    expect(parseClientFrame('{"type":"cf_agent_use_chat_request","id":"r","init":{"method":"GET","body":"{}"}}')).toEqual({ kind: "ignored" });
  });

  it("never throws, whatever a protocol frame holds", () => {
    const types = ["cf_agent_use_chat_request", "cf_agent_chat_request_cancel", "cf_agent_stream_resume_ack"];
    fc.assert(
      fc.property(fc.constantFrom(...types), fc.dictionary(fc.constantFrom("id", "init", "probeId", "x"), fc.jsonValue()), (type, fields) => {
        const parsed = parseClientFrame(JSON.stringify({ ...fields, type }));
        expect(["frame", "ignored", "invalid", "foreign"]).toContain(parsed.kind);
      })
    );
  });
});
