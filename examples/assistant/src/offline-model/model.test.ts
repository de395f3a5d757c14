import { describe, expect, it } from "vitest";
import { createOfflineModel } from "./model";
import { STORY } from "./texts";
import type { CallOptions, Prompt, StreamPart } from "@cloudflare/think-example-kit/model";

const TOOLS = ["read", "write", "edit", "list", "find", "grep", "delete", "bash"];

function ask(request: string, ...after: Prompt): CallOptions {
  return {
    prompt: [{ role: "user", content: [{ type: "text", text: request }] }, ...after],
    tools: TOOLS.map((name) => ({ type: "function", name, inputSchema: { type: "object" } }))
  };
}

function called(toolName: string, input: object, value: NonNullable<unknown>): Prompt {
  return [
    { role: "assistant", content: [{ type: "tool-call", toolCallId: "call", toolName, input }] },
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          toolCallId: "call",
          toolName,
          output: { type: "json", value: JSON.parse(JSON.stringify(value)) }
        }
      ]
    }
  ];
}

async function answer(call: CallOptions): Promise<readonly StreamPart[]> {
  let ids = 0;
  const model = createOfflineModel({ generateId: () => `id-${ids++}`, pause: () => Promise.resolve() });
  const { stream } = await model.doStream(call);
  const parts: StreamPart[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

function textOf(parts: readonly StreamPart[]): string {
  return parts.map((part) => (part.type === "text-delta" ? part.delta : "")).join("");
}

function finishOf(parts: readonly StreamPart[]): string | undefined {
  const last = parts.at(-1);
  return last?.type === "finish" ? last.finishReason.unified : undefined;
}

describe("the offline model", () => {
  it("calls a tool with streamed input, and says so", async () => {
    const parts = await answer(ask("list files in /notes"));
    expect(parts.find((part) => part.type === "tool-call")).toMatchObject({
      toolName: "list",
      input: JSON.stringify({ path: "/notes" })
    });
    const streamed = parts.map((part) => (part.type === "tool-input-delta" ? part.delta : "")).join("");
    expect(streamed).toBe(JSON.stringify({ path: "/notes" }));
    expect(finishOf(parts)).toBe("tool-calls");
  });

  it("answers from the tool result on the next step", async () => {
    const result = { path: "/", count: 2, entries: ["notes/", "hello.txt (12 B)"] };
    const parts = await answer(ask("list files", ...called("list", { path: "/" }, result)));
    expect(textOf(parts)).toContain("- `hello.txt` (12 B)");
    expect(finishOf(parts)).toBe("stop");
  });

  it("writes a file and then reads it back, in three steps", async () => {
    const request = "write a file a.txt with one and then read it back";
    const wrote = called("write", { path: "/a.txt" }, { path: "/a.txt", bytesWritten: 3, lines: 1 });
    const read = called("read", { path: "/a.txt" }, { path: "/a.txt", content: "1\tone", totalLines: 1 });
    expect((await answer(ask(request))).find((part) => part.type === "tool-call")).toMatchObject({
      toolName: "write"
    });
    expect((await answer(ask(request, ...wrote))).find((part) => part.type === "tool-call")).toMatchObject({
      toolName: "read"
    });
    expect(textOf(await answer(ask(request, ...wrote, ...read)))).toContain("```txt\none\n```");
  });

  it("stops a chain whose first tool failed and repeats the tool's words", async () => {
    const failed: Prompt = [
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "call",
            toolName: "write",
            output: { type: "error-text", value: "disk full" }
          }
        ]
      }
    ];
    const parts = await answer(ask("write a file a.txt with one and then read it back", ...failed));
    expect(textOf(parts)).toBe("That did not work: disk full");
  });

  it("does not call a tool it was not given", async () => {
    const parts = await answer({ ...ask("run ls"), tools: [] });
    expect(parts.some((part) => part.type === "tool-call")).toBe(false);
    expect(textOf(parts)).toContain("`bash`");
  });

  it.each([
    ["by itself", []],
    [
      "when an agent asks for it",
      [
        {
          role: "user" as const,
          content: [{ type: "text" as const, text: "Continue from where you stopped." }]
        }
      ]
    ]
  ])("goes on with an interrupted answer at the exact place where it stopped, %s", async (_how, note) => {
    const told = STORY.slice(0, 1_000);
    const parts = await answer(
      ask("tell me a long story", { role: "assistant", content: [{ type: "text", text: told }] }, ...note)
    );
    expect(told + textOf(parts)).toBe(STORY);
  });

  it("shows its reasoning before the answer when asked to think", async () => {
    const types = (await answer(ask("think about tides"))).map((part) => part.type);
    expect(types.indexOf("reasoning-end")).toBeGreaterThan(0);
    expect(types.indexOf("text-start")).toBeGreaterThan(types.indexOf("reasoning-end"));
  });

  it("says that it is offline when it does not understand", async () => {
    expect(textOf(await answer(ask("what is the capital of France?")))).toMatch(
      /offline model.*\.dev\.vars/s
    );
  });

  it("reports an error in the stream on request", async () => {
    const parts = await answer(ask("fail"));
    expect(parts.find((part) => part.type === "error")).toBeDefined();
    expect(finishOf(parts)).toBe("error");
  });

  it("stops within one pause when the signal is aborted", async () => {
    const controller = new AbortController();
    const { stream } = await createOfflineModel().doStream({
      ...ask("tell me a long story"),
      abortSignal: controller.signal
    });
    const reader = stream.getReader();
    for (let part = 0; part < 5; part += 1) await reader.read();
    controller.abort();
    await expect(reader.read().then(() => reader.read())).rejects.toMatchObject({ name: "AbortError" });
  });

  it("says the same words every time, streamed or not", async () => {
    const [first, second] = [await answer(ask("help")), await answer(ask("help"))];
    expect(first).toEqual(second);
    const { content } = await createOfflineModel().doGenerate(ask("help"));
    expect(content).toEqual([{ type: "text", text: textOf(first) }]);
  });
});
