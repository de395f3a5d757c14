import type { ToolSet, UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import { resumeCalls } from "./resume-calls";
import type { ToolExecute } from "./sdk-tool";

const call = (toolCallId: string, state = "input-available") => ({
  ...{ type: "tool-research", toolCallId, state, input: { query: "sky" } }
});

const answer = (...parts: object[]) =>
  ({ id: "a1", role: "assistant", parts: [{ type: "text", text: "Let me see." }, ...parts] }) as UIMessage;

/** Makes the calls of a conversation again; answers with what was stored. */
async function resumed(
  messages: readonly UIMessage[],
  execute: ToolExecute,
  {
    continuation = true,
    handedOver = ["c1", "c2"],
    signal = new AbortController().signal,
    name = "research"
  }: {
    readonly continuation?: boolean;
    readonly handedOver?: readonly string[];
    readonly signal?: AbortSignal;
    readonly name?: string;
  } = {}
) {
  const stored: UIMessage[] = [];
  const made: string[] = [];
  const counted: ToolExecute = (input, options) => {
    made.push(options.toolCallId);
    return execute(input, options);
  };
  const missing = await resumeCalls(
    {
      isHandedOver: (id) => handedOver.includes(id),
      saveSettled: (changed) => void stored.push(...changed)
    },
    { messages: () => messages, signal, continuation },
    { [name]: { execute: counted } } as unknown as ToolSet
  );
  return { made, stored, missing: [...missing], parts: stored.flatMap(({ parts }) => parts.slice(1)) };
}

describe("calls that were handed to another agent", () => {
  it("are made again under their ids, at once, and their answers are stored", async () => {
    const conversation = [answer(call("c1"), call("c2"))];
    const { made, parts } = await resumed(conversation, async (input, { toolCallId }) =>
      Promise.resolve([toolCallId, input])
    );
    expect(made).toEqual(["c1", "c2"]);
    expect(parts).toEqual([
      { ...call("c1", "output-available"), output: ["c1", { query: "sky" }] },
      { ...call("c2", "output-available"), output: ["c2", { query: "sky" }] }
    ]);
  });

  it("that fail have the failure as their outcome, and their siblings their answers", async () => {
    const { parts } = await resumed([answer(call("c1"), call("c2"))], async (_input, { toolCallId }) => {
      if (toolCallId === "c1") throw new Error("gone");
      return "fine";
    });
    expect(parts).toMatchObject([
      { state: "output-error", errorText: "gone" },
      { state: "output-available", output: "fine" }
    ]);
  });

  it("that answer piece by piece have their last word as outcome; what is no data is a failure", async () => {
    const { parts } = await resumed([answer(call("c1"), call("c2"))], (_input, { toolCallId }) =>
      toolCallId === "c1"
        ? (async function* () {
            yield "first";
            yield "last";
          })()
        : 7n
    );
    expect(parts).toMatchObject([
      { state: "output-available", output: "last" },
      { state: "output-error", errorText: expect.stringContaining("cannot be written as JSON") }
    ]);
  });

  it("are told when their tool is not there", async () => {
    const { stored, missing } = await resumed([answer(call("c1"))], () => "never", { name: "other" });
    expect([stored, missing]).toEqual([[], ["c1"]]);
  });

  it("that had said something on their way have their outcome in its place", async () => {
    const running = { ...call("c1", "output-available"), output: "10 %", preliminary: true };
    const { parts } = await resumed([answer(running)], () => "all");
    expect(parts).toEqual([{ ...call("c1", "output-available"), output: "all" }]);
  });

  it("keep nothing of a turn that was stopped meanwhile", async () => {
    const controller = new AbortController();
    const stored: UIMessage[] = [];
    const work = resumeCalls(
      { isHandedOver: () => true, saveSettled: (changed) => void stored.push(...changed) },
      { messages: () => [answer(call("c1"))], signal: controller.signal, continuation: true },
      {
        research: {
          execute: () => {
            controller.abort();
            return "too late";
          }
        }
      } as unknown as ToolSet
    );
    await expect(work).rejects.toThrow(/aborted/u);
    expect(stored).toEqual([]);
  });
});

describe("other calls", () => {
  it.each([
    "input-streaming",
    "approval-requested",
    "approval-responded",
    "output-available",
    "output-error"
  ])("that are %s are not made again", async (state) => {
    const { made } = await resumed([answer(call("c1", state))], () => "never");
    expect(made).toEqual([]);
  });

  it("that nobody else works on are not made again: their work might be done twice", async () => {
    const { made, stored } = await resumed([answer(call("c1"))], () => "never", { handedOver: [] });
    expect([made, stored]).toEqual([[], []]);
  });

  it("of earlier answers do not keep a new question waiting", async () => {
    const { made } = await resumed([answer(call("c1"))], () => "never", { continuation: false });
    expect(made).toEqual([]);
  });
});
