/**
 * The trust boundaries "a model" and "a tool result" of `design/threat-model.md`: whatever a model calls and whatever a tool gives back, the
 * host is unharmed, the model is told, and the turn comes to an end.
 */
import { runInAgent, toolCall } from "@cloudflare/think/testing";
import { tool } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { newLoop } from "./loop-support";
import type { LoopTestAgent } from "./worker/loop-agents";

const prompt = (calls: readonly { readonly prompt: unknown }[], index: number) =>
  JSON.stringify(calls[index]?.prompt);

describe("a hostile model", () => {
  it.each([
    ["a tool that does not exist", toolCall("reed", { path: "/secret" })],
    ["an inherited name", toolCall("constructor", {})],
    ["a prototype name", toolCall("__proto__", {})],
    ["input of the wrong type", toolCall("read", { path: 5 })],
    ["input out of range", toolCall("list", { path: "/", limit: 0 })],
    ["input that is no JSON", toolCall("read", '{"path": "/secret')],
    ["input that is a list", toolCall("read", '["/secret"]')]
  ])("calls %s: nothing runs, it is told why, and goes on", async (_what, call) => {
    const { model, client, stub } = await newLoop([call, "Sorry."]);
    await runInAgent(stub(), (agent: LoopTestAgent) => agent.workspace.writeFile("/secret", "s3cret"));
    const { text, error } = await client.chat("Go").done;
    expect([text, error]).toEqual(["Sorry.", undefined]);
    expect(prompt(model.calls, 1)).not.toContain("s3cret");
    expect(prompt(model.calls, 1)).toMatch(/error-text|error-json/);
  });

  it.each(["reed", "constructor", "__proto__"])(
    "calls the unknown tool %s: it is stored as a dynamic one",
    async (name) => {
      const { client, history } = await newLoop([toolCall(name, {}), "Sorry."]);
      await client.chat("Go").done;
      const parts = (await history()).at(-1)?.parts ?? [];
      expect(parts).toContainEqual(expect.objectContaining({ type: "dynamic-tool", toolName: name }));
    }
  );

  it("sends prototype keys: no object of the host changes, and the tool gets only what its schema names", async () => {
    const got: unknown[] = [];
    const echo = tool({
      inputSchema: z.object({ a: z.number() }),
      execute: (input) => {
        got.push(Object.keys(input));
        return "ok";
      }
    });
    const { client } = await newLoop(
      [
        toolCall(
          "echo",
          '{"a":1,"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'
        ),
        "Done."
      ],
      { tools: { echo } }
    );
    await client.chat("Go").done;
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(got.every((keys) => JSON.stringify(keys) === '["a"]')).toBe(true);
  });

  it("calls tools without end: the turn ends after maxSteps", async () => {
    const { model, client } = await newLoop(() => toolCall("add", { a: 1, b: 1 }), {
      beforeTurn: () => ({ maxSteps: 4 })
    });
    await client.chat("Go").done;
    expect(model.calls).toHaveLength(4);
  });

  it("calls a hundred tools in one step: each gets its answer", async () => {
    const hundred = Array.from({ length: 100 }, (_, index) => toolCall("add", { a: index, b: 1 }));
    const { client, history } = await newLoop([hundred, "Done."]);
    expect((await client.chat("Go").done).text).toBe("Done.");
    const parts = (await history()).at(-1)?.parts ?? [];
    expect(parts.filter((part) => "output" in part && part.output !== undefined)).toHaveLength(100);
  });
});

describe("a hostile tool result", () => {
  const returning = (value: () => unknown) => ({
    odd: tool({ inputSchema: z.object({}), execute: value as () => string })
  });

  async function* piecemeal() {
    yield "first";
    yield { n: 10n };
  }

  it.each<[string, () => unknown]>([
    [
      "a circle",
      () => {
        const circle: Record<string, unknown> = {};
        circle["self"] = circle;
        return circle;
      }
    ],
    ["a big integer", () => ({ n: 10n })],
    ["a big integer in a promise", async () => 10n],
    ["a big integer after a good piece", () => piecemeal()],
    [
      "a getter that throws",
      () => ({
        get bad(): never {
          throw new Error("trap");
        }
      })
    ],
    [
      "a throw that is no error",
      () => {
        throw "just text";
      }
    ]
  ])("that is %s fails its call: the model is told why, and the turn goes on", async (_what, value) => {
    const { client, model, history } = await newLoop([toolCall("odd", {}), "Fine."], {
      tools: returning(value)
    });
    const { text, error } = await client.chat("Go").done;
    expect([text, error]).toEqual(["Fine.", undefined]);
    expect(prompt(model.calls, 1)).toMatch(/"type":"error-(text|json)"/);
    expect(prompt(model.calls, 1)).toMatch(/cannot be written as JSON|just text/);
    expect((await history()).at(-1)?.parts).toContainEqual(
      expect.objectContaining({ toolCallId: "call-1", state: "output-error" })
    );
  });

  it.each<[string, () => unknown]>([
    ["nothing", () => undefined],
    ["a function", () => () => 1],
    ["half a character", () => "\ud800"]
  ])("that is %s is taken as it is, and the next turn works", async (_what, value) => {
    const { client } = await newLoop([toolCall("odd", {}), "Fine.", "Next."], { tools: returning(value) });
    expect((await client.chat("Go").done).text).toBe("Fine.");
    expect((await client.chat("And now?").done).text).toBe("Next.");
  });

  it("of five megabytes is stored within the row limit, and the conversation goes on", async () => {
    const { client, history } = await newLoop([toolCall("odd", {}), "Fine.", "Next."], {
      tools: returning(() => "x".repeat(5_000_000))
    });
    expect((await client.chat("Go").done).text).toBe("Fine.");
    expect((await client.chat("Next?").done).text).toBe("Next.");
    expect(JSON.stringify(await history()).length).toBeLessThan(1_900_000);
  });
});
