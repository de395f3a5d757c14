import type { UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import { batchOf, hasOpenQuestion } from "./batch";

const STEP = { type: "step-start" };
const TEXT = { type: "text", text: "hm" };
const tool = (state: string, type = "tool-look") => ({
  type,
  toolName: "look",
  toolCallId: crypto.randomUUID(),
  state,
  input: {}
});

const assistant = (...parts: object[]) => ({ id: "a", role: "assistant", parts }) as unknown as UIMessage;
const user = { id: "u", role: "user", parts: [{ type: "text", text: "hi" }] } as UIMessage;

describe("the barrier (§7.5)", () => {
  it.each(["output-available", "output-error", "output-denied", "approval-responded"])(
    "is open when every call is %s",
    (state) => {
      expect(batchOf([user, assistant(STEP, tool(state))])).toBe("ready");
      expect(batchOf([user, assistant(STEP, tool(state, "dynamic-tool"), TEXT)])).toBe("ready");
    }
  );

  it.each(["input-available", "approval-requested"])(
    "is closed while any call of the latest answer is %s (trap 20)",
    (state) => {
      for (const type of ["tool-ask", "dynamic-tool"]) {
        expect(batchOf([assistant(STEP, tool("output-available"), tool(state, type))])).toBe("waiting");
        expect(batchOf([assistant(tool(state, type))])).toBe("waiting");
      }
    }
  );

  it("does not wait for calls that another agent works on: the model's turn does that", () => {
    const elsewhere = tool("input-available");
    const isElsewhere = (id: string) => id === elsewhere.toolCallId;
    expect(batchOf([assistant(STEP, tool("output-available"), elsewhere)], isElsewhere)).toBe("ready");
    expect(batchOf([assistant(STEP, tool("input-available"), elsewhere)], isElsewhere)).toBe("waiting");
    expect(batchOf([assistant(STEP, elsewhere)], isElsewhere)).toBe("nothing");
  });

  it("looks at the latest answer only", () => {
    expect(
      batchOf([assistant(tool("input-available")), user, assistant(STEP, tool("output-available"))])
    ).toBe("ready");
  });

  it("says there is nothing to continue when the model has had the last word", () => {
    expect(batchOf([])).toBe("nothing");
    expect(batchOf([user])).toBe("nothing");
    expect(batchOf([user, assistant(STEP, TEXT)])).toBe("nothing");
    expect(batchOf([user, assistant(STEP, tool("output-available"), STEP, TEXT)])).toBe("nothing");
    expect(batchOf([user, assistant(STEP, tool("input-streaming"))])).toBe("nothing");
  });

  it("is open when something was said after the answer", () => {
    expect(batchOf([assistant(STEP, tool("output-available"), STEP, TEXT), user])).toBe("ready");
  });
});

describe("an open question (§7.8)", () => {
  it("is an approval, or a call of a tool that runs in the client; a server tool's interrupted call is none", () => {
    const client = [{ name: "look" }];
    expect(hasOpenQuestion([assistant(tool("approval-requested"))], [])).toBe(true);
    expect(hasOpenQuestion([assistant(tool("input-available"))], client)).toBe(true);
    expect(hasOpenQuestion([assistant(tool("input-available", "dynamic-tool"))], client)).toBe(true);
    expect(hasOpenQuestion([assistant(tool("input-available", "tool-server"))], client)).toBe(false);
    expect(hasOpenQuestion([assistant(tool("output-available"), tool("approval-responded"))], client)).toBe(
      false
    );
    expect(hasOpenQuestion([], client)).toBe(false);
  });
});
