/** The `think` tool in a real turn, on a Durable Object's storage (contract tools §8). */
import { countRows, evict, runInAgent, toolCall } from "@cloudflare/think/testing";
import { createThinkTool, ThoughtLog, type ThinkOutput } from "@cloudflare/think/tools/think";
import { describe, expect, it } from "vitest";
import { newLoop } from "./loop-support";
import type { LoopTestAgent } from "./worker/loop-agents";

const outputs = (messages: readonly { readonly parts: readonly object[] }[]): ThinkOutput[] =>
  messages.flatMap(({ parts }) =>
    parts.flatMap((part) => ("output" in part ? [part.output as ThinkOutput] : []))
  );

describe("the think tool in a turn", () => {
  it("§8.2, trap 40: a call without a thought gets the documented error, parallel calls their own steps, and the turn goes on", async () => {
    const setup = await newLoop(
      [
        [toolCall("think", {}), toolCall("think", { thought: "a" }), toolCall("think", { thought: "b" })],
        "done"
      ],
      { tools: { think: createThinkTool() } }
    );
    const { text } = await setup.client.chat("Hi").done;
    expect(text).toBe("done");
    const results = outputs(await setup.history());
    expect(results[0]).toEqual({ status: "error", message: "Error: 'thought' parameter is required" });
    // §8.1: without any id the current agent's name is the session.
    expect(results.slice(1)).toEqual([
      { status: "success", step: 1, thought: "a", context_size: 1, session_id: setup.name },
      { status: "success", step: 2, thought: "b", context_size: 2, session_id: setup.name }
    ]);
    const prompt = JSON.stringify(setup.model.calls[1]?.prompt);
    expect(prompt).toContain('{"type":"error-text","value":"Error: \'thought\' parameter is required"}');
    expect(prompt).toContain('"context_size":2');
    expect(JSON.stringify(setup.model.calls[0]?.tools)).toContain('"required":["thought"]');
  });

  it("§8.1 createThinkTool(agent) keeps thoughts in the agent's storage, under its name, across an eviction", async () => {
    const { stub, name } = await newLoop([]);
    const think = (thought: string) =>
      runInAgent(stub(), (agent: LoopTestAgent) => createThinkTool(agent).execute({ thought }));
    expect(await think("before")).toMatchObject({ step: 1, session_id: name });
    await evict(stub());
    expect(await think("after")).toMatchObject({ step: 2, context_size: 2 });
    const tables = await runInAgent(stub(), (agent: LoopTestAgent) =>
      agent.sql<{
        name: string;
      }>`SELECT name FROM sqlite_master WHERE name LIKE 'cf_think_thought%' ORDER BY name`.map(
        (row) => row.name
      )
    );
    expect(tables).toEqual(["cf_think_thought_sessions", "cf_think_thoughts"]);
  });

  it("§8.3 a thought costs two rows, three once the log is full; looking costs none", async () => {
    const { stub } = await newLoop([]);
    const cost = (work: (log: ThoughtLog) => Promise<unknown>) =>
      runInAgent(stub(), (_, state) =>
        countRows(state, () => work(new ThoughtLog({ storage: state.storage, maxThoughts: 2 })))
      );
    expect((await cost((log) => log.getAllThoughts("w"))).totalWritten).toBe(0);
    await cost((log) => log.addThought("w", "first makes the tables"));
    expect((await cost((log) => log.addThought("w", "second"))).rowsWritten).toBe(2);
    expect((await cost((log) => log.addThought("w", "third"))).rowsWritten).toBe(3);
    expect((await cost((log) => log.getFormattedContext("w"))).totalWritten).toBe(0);
  });
});
