import { describe, expect, it } from "vitest";
import { ThoughtLog } from "../../thoughts/thought-log";
import { thinkToolFor, type ThinkInput, type ThinkToolOptions } from "./think-tool";

const now = () => new Date(0);

function toolWith(options: ThinkToolOptions = {}, currentName?: string) {
  const tool = thinkToolFor(options, () => currentName);
  // Models send anything.
  const think = (input: unknown) => tool.execute(input as ThinkInput);
  return { tool, think };
}

const required = { status: "error", message: "Error: 'thought' parameter is required" };

describe("§8.2 the think tool", () => {
  it("answers in the documented shape", async () => {
    const { think } = toolWith({ workflowId: "workflow-uuid", now });
    expect(await think({ thought: "Analyze the request" })).toEqual({
      status: "success",
      step: 1,
      thought: "Analyze the request",
      context_size: 1,
      session_id: "workflow-uuid"
    });
    expect(await think({ thought: "Second thought" })).toMatchObject({ step: 2, context_size: 2 });
  });

  it.each([
    ["nothing", undefined],
    ["null", null],
    ["a list", []],
    ["no thought", {}],
    ["another name", { thoughts: "x" }],
    ["null as thought", { thought: null }],
    ["an empty thought", { thought: "" }],
    ["a blank thought", { thought: " \n\t" }],
    ["an object", { thought: { text: "x" } }],
    ["a list of thoughts", { thought: ["x"] }]
  ])("trap 40: answers %s with the documented error and stores nothing", async (_, input) => {
    const log = new ThoughtLog();
    const { think } = toolWith({ log });
    expect(await think(input)).toEqual(required);
    expect(await log.getAllThoughts("default")).toEqual([]);
  });

  it("takes numbers and booleans as texts, and input that is JSON text", async () => {
    const { think } = toolWith();
    expect(await think({ thought: 42 })).toMatchObject({ status: "success", thought: "42" });
    expect(await think({ thought: false })).toMatchObject({ thought: "false" });
    expect(await think('{"thought":"as text"}')).toMatchObject({ thought: "as text" });
  });

  it("names length and maximum of a thought that is too long, and stores nothing", async () => {
    const { think } = toolWith({ maxThoughtLength: 100 });
    expect(await think({ thought: "x".repeat(101) })).toEqual({
      status: "error",
      message: expect.stringMatching(/^Error processing thought: .*101.*100/)
    });
    expect(await think({ thought: "short" })).toMatchObject({ step: 1 });
  });

  it("turns every exception into the documented error", async () => {
    const storage = {
      sql: {
        exec: () => {
          throw new Error("disk is full");
        }
      },
      transactionSync: <T>(work: () => T) => work()
    };
    const failing = [
      { storage },
      {
        sessionId: () => {
          throw new Error("disk is full");
        }
      }
    ];
    for (const options of failing) {
      expect(await toolWith(options).think({ thought: "x" })).toEqual({
        status: "error",
        message: "Error processing thought: disk is full"
      });
    }
  });

  it("shows a success as JSON, an error as its bare text, and old shapes as they are", () => {
    const { tool } = toolWith();
    const success = { status: "success", step: 1, thought: "x", context_size: 1, session_id: "s" };
    expect(tool.toModelOutput({ output: success })).toEqual({ type: "json", value: success });
    expect(tool.toModelOutput({ output: required })).toEqual({ type: "error-text", value: required.message });
    expect(tool.toModelOutput({ output: "shortened" })).toEqual({ type: "text", value: "shortened" });
    expect(tool.toModelOutput({ output: undefined })).toEqual({ type: "text", value: "" });
  });

  it("requires the thought in the schema that the model sees, and accepts anything", async () => {
    const { inputSchema } = toolWith().tool;
    expect(await inputSchema.jsonSchema).toMatchObject({
      required: ["thought"],
      properties: {
        thought: { type: "string", description: expect.stringContaining("specific and detailed") }
      }
    });
    expect(await inputSchema.validate?.({})).toMatchObject({ success: true });
  });
});

describe("§8.1 the options of the think tool", () => {
  it.each([
    ["the workflow", { workflowId: "w", sessionId: "s" }, "agent", "w"],
    ["the session", { workflowId: "", sessionId: () => "s" }, "agent", "s"],
    ["the current agent", { workflowId: () => undefined, sessionId: "" }, "agent", "agent"],
    ["default", {}, "", "default"],
    ["default", {}, undefined, "default"]
  ])("names the session after %s", async (_, options, current, expected) => {
    expect(await toolWith(options, current).think({ thought: "x" })).toMatchObject({ session_id: expected });
  });

  it("shares a log with host code, and refuses options that belong to the log", async () => {
    const log = new ThoughtLog({ maxThoughts: 1 });
    await log.addThought("default", "by the host");
    expect(await toolWith({ log }).think({ thought: "x" })).toMatchObject({ step: 2, context_size: 1 });
    expect(() => toolWith({ log, maxThoughts: 5 })).toThrow("give maxThoughts to the ThoughtLog");
    expect(() => toolWith({ maxThoughts: 0 })).toThrow("maxThoughts");
  });

  it("takes another description", () => {
    expect(toolWith().tool.description).toContain("changes nothing");
    expect(toolWith({ description: "Plan." }).tool.description).toBe("Plan.");
  });
});
