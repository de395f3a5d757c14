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
    const parsed = parseClientFrame(
      request({ messages: [hello], trigger: "regenerate-message", clientTools: [{ name: "t" }], page: 3 })
    );
    expect(parsed).toEqual({
      kind: "frame",
      frame: {
        type: "cf_agent_use_chat_request",
        id: "r1",
        body: {
          messages: [hello],
          trigger: "regenerate-message",
          clientTools: [{ name: "t" }],
          custom: { page: 3 }
        }
      }
    });
  });

  it("tells absent client tools from none", () => {
    const tools = (body: unknown) => {
      const parsed = parseClientFrame(request(body));
      return parsed.kind === "frame" && parsed.frame.type === "cf_agent_use_chat_request"
        ? parsed.frame.body.clientTools
        : "?";
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
    const huge = request({
      messages: [{ ...hello, parts: [{ type: "text", text: "x".repeat(LIMITS.inboundFrameChars) }] }]
    });
    expect(parseClientFrame(huge)).toMatchObject({
      kind: "invalid",
      requestId: "r1",
      reason: expect.stringContaining("8 MiB")
    });
    expect(parseClientFrame("{" + "x".repeat(LIMITS.inboundFrameChars))).toEqual({ kind: "foreign" });
  });

  it("takes a frame with white space around it (§1.1)", () => {
    expect(parseClientFrame(' \n\t{"type":"cf_agent_chat_clear"} ')).toMatchObject({ kind: "frame" });
  });

  it("ignores requests that are not a POST or have no body", () => {
    expect(parseClientFrame('{"type":"cf_agent_use_chat_request","id":"r"}')).toEqual({ kind: "ignored" });
    expect(
      parseClientFrame('{"type":"cf_agent_use_chat_request","id":"r","init":{"method":"GET","body":"{}"}}')
    ).toEqual({ kind: "ignored" });
  });

  it("takes tool results and approvals, and fills in what clients leave out (§1.2)", () => {
    const parse = (frame: object) => {
      const parsed = parseClientFrame(JSON.stringify(frame));
      return parsed.kind === "frame" ? parsed.frame : parsed;
    };
    expect(parse({ type: "cf_agent_tool_result", toolCallId: "a", output: { ok: true }, extra: 1 })).toEqual({
      ...{ type: "cf_agent_tool_result", toolCallId: "a", toolName: "", output: { ok: true } }
    });
    const failed = { type: "cf_agent_tool_result", toolCallId: "a", toolName: "t", state: "output-error" };
    expect(parse({ ...failed, errorText: "no", autoContinue: false, clientTools: null })).toMatchObject({
      ...failed,
      errorText: "no"
    });
    const approval = { type: "cf_agent_tool_approval", toolCallId: "a", approved: true, autoContinue: true };
    expect(parse(approval)).toEqual(approval);
  });

  it.each([
    ["a result without a call", { type: "cf_agent_tool_result", output: 1 }],
    ["an empty call id", { type: "cf_agent_tool_result", toolCallId: "" }],
    [
      "a call id without end",
      { type: "cf_agent_tool_result", toolCallId: "x".repeat(LIMITS.toolCallIdChars + 1) }
    ],
    ["an unknown state", { type: "cf_agent_tool_result", toolCallId: "a", state: "output-denied" }],
    ["an error text that is none", { type: "cf_agent_tool_result", toolCallId: "a", errorText: {} }],
    ["client tools that are none", { type: "cf_agent_tool_result", toolCallId: "a", clientTools: [7] }],
    [
      "too many client tools",
      {
        ...{ type: "cf_agent_tool_result", toolCallId: "a" },
        clientTools: Array.from({ length: LIMITS.clientToolsPerRequest + 1 }, () => ({ name: "t" }))
      }
    ],
    ["an approval that does not decide", { type: "cf_agent_tool_approval", toolCallId: "a" }],
    ["an approval by a text", { type: "cf_agent_tool_approval", toolCallId: "a", approved: "true" }]
  ])("refuses %s", (_name, frame) => {
    expect(parseClientFrame(JSON.stringify(frame))).toMatchObject({ kind: "invalid" });
  });

  it("cuts a tool's error text instead of refusing the answer", () => {
    const errorText = "x".repeat(LIMITS.toolErrorChars + 1);
    const frame = { type: "cf_agent_tool_result", toolCallId: "a", state: "output-error", errorText };
    const parsed = parseClientFrame(JSON.stringify(frame));
    const cut =
      parsed.kind === "frame" && parsed.frame.type === "cf_agent_tool_result" ? parsed.frame.errorText : "";
    expect(cut?.length).toBe(LIMITS.toolErrorChars);
  });

  it("makes an error result of a tool result above the size limit", () => {
    const output = "x".repeat(LIMITS.inboundFrameChars);
    const frame = {
      type: "cf_agent_tool_result",
      toolCallId: "call-1",
      toolName: "t",
      output,
      autoContinue: true
    };
    expect(parseClientFrame(JSON.stringify(frame))).toEqual({
      kind: "frame",
      frame: {
        ...{
          type: "cf_agent_tool_result",
          toolCallId: "call-1",
          toolName: "",
          state: "output-error",
          autoContinue: true
        },
        errorText: "The tool's result is larger than 8 MiB and was not accepted."
      }
    });
    expect(parseClientFrame(JSON.stringify({ ...frame, toolCallId: undefined }))).toEqual({
      kind: "ignored"
    });
  });

  it("never throws, whatever a protocol frame holds", () => {
    const types = [
      "cf_agent_use_chat_request",
      "cf_agent_chat_request_cancel",
      "cf_agent_stream_resume_ack",
      "cf_agent_tool_result",
      "cf_agent_tool_approval"
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...types),
        fc.dictionary(
          fc.constantFrom(
            "id",
            "init",
            "probeId",
            "toolCallId",
            "toolName",
            "approved",
            "clientTools",
            "state"
          ),
          fc.jsonValue()
        ),
        (type, fields) => {
          const parsed = parseClientFrame(JSON.stringify({ ...fields, type }));
          expect(["frame", "ignored", "invalid", "foreign"]).toContain(parsed.kind);
        }
      )
    );
  });
});
