/** Agent-tool runs, the child's side: tools.md §7.1 to §7.4, traps 35 to 37, seed 001 §8 and §9. */
import { env } from "cloudflare:workers";
import {
  gate,
  hang,
  reasoning,
  runInAgent,
  scriptedModel,
  streamError,
  text,
  toolCall,
  userMessage
} from "@cloudflare/think/testing";
import { describe, expect, it, vi } from "vitest";
import { newChild, patient } from "./agent-tools-support";
import { openChild } from "./worker/agent-tools-agents";

const questionOf = (child: ReturnType<typeof newChild>) =>
  runInAgent(child.stub(), (agent) =>
    agent.messages[0]?.parts.map((part) => (part.type === "text" ? part.text : part.type))
  );

describe("a run", () => {
  it("§7.3: is started at once, ends with the text of its answer, and is started only once", async () => {
    const child = newChild(["It is blue."]);
    // In one call: two calls to an object that is just being made may arrive in any order.
    const started = await runInAgent(child.stub(), (agent) =>
      Promise.all(["Go", "me too"].map((input) => agent.startAgentToolRun(input, { runId: child.runId })))
    );
    expect(started.map((run) => run.runId)).toEqual([child.runId, child.runId]);
    expect(started[0]).toEqual({ runId: child.runId, status: "running", startedAt: expect.any(Number) });
    const run = await child.over();
    expect(run).toMatchObject({
      status: "completed",
      summary: "It is blue.",
      requestId: expect.any(String),
      streamId: expect.any(String)
    });
    expect(run).not.toHaveProperty("error");
    expect(await child.start("again")).toEqual(run);
    expect(child.model.calls).toHaveLength(1);
    expect(await questionOf(child)).toEqual(["Go"]);
  });

  it("§7.3.4: knows its request before the model is asked", async () => {
    const held = gate();
    const child = newChild([[held, text("Fine")]]);
    await child.start();
    await held.reached;
    const { requestId, streamId, status } = (await child.inspect()) ?? {};
    expect({ requestId, streamId, status }).toEqual({
      requestId: expect.any(String),
      streamId: expect.any(String),
      status: "running"
    });
    held.open();
    expect(await child.over()).toMatchObject({ requestId, streamId });
  });

  it("§7.2: puts a text as it is and anything else as indented JSON, unless the author says otherwise", async () => {
    const plain = newChild(["ok"]);
    await plain.start({ query: "sky" });
    await plain.over();
    expect(await questionOf(plain)).toEqual(['{\n  "query": "sky"\n}']);
    const nothing = newChild(["ok"]);
    await nothing.start(undefined, undefined);
    expect(await nothing.over()).toMatchObject({ status: "completed" });
    const own = newChild(["ok"], { input: (input) => userMessage(`Please: ${String(input)}`) });
    await own.start("sing");
    await own.over();
    expect(await questionOf(own)).toEqual(["Please: sing"]);
  });

  it("trap 37: with structured output only is summarised by its JSON and keeps the output that was stored", async () => {
    const child = newChild([[reasoning("hm")]], { output: () => ({ value: 42 }) });
    await child.start();
    expect(await child.over()).toMatchObject({
      status: "completed",
      output: { value: 42 },
      summary: '{"value":42}'
    });
    child.lab.output = () => undefined;
    expect(await child.inspect()).toMatchObject({ output: { value: 42 } });
    child.lab.output = () => ({ value: 43 });
    expect(await child.inspect()).toMatchObject({ output: { value: 42 } });
  });

  it("trap 37: without any text is completed with an empty summary, and leaves nothing in memory", async () => {
    const child = newChild([[reasoning("hm")]]);
    await child.start();
    expect(await child.over()).toMatchObject({ status: "completed", summary: "" });
    expect(await child.kept()).toBe(0);
  });

  it("§7.2: takes the author's summary, and shows the current output while it runs", async () => {
    const held = gate();
    const child = newChild([[held, text("Long story")]], {
      output: () => "half",
      summary: (_runId, output) => `Short: ${String(output)}`
    });
    await child.start();
    await held.reached;
    expect(await child.inspect()).toMatchObject({ status: "running", output: "half" });
    held.open();
    expect(await child.over()).toMatchObject({ summary: "Short: half" });
  });

  it("§7.2: keeps what runs of one child said apart", async () => {
    const child = newChild(["first", "second"]);
    await child.start("1", "one");
    await child.start("2", "two");
    expect(await child.over("one")).toMatchObject({ summary: "first" });
    expect(await child.over("two")).toMatchObject({ summary: "second" });
  });
});

describe("the end of a run", () => {
  it("seed 001 §9: is an error when its stream failed, although nobody follows it, and nothing is left of it (trap 37)", async () => {
    const child = newChild([[text("Half"), streamError("provider down")]]);
    await child.start();
    expect(await child.over()).toMatchObject({ status: "error", error: "provider down" });
    expect(await child.kept()).toBe(0);
  });

  it("seed 001 §9: is the same with a tailer that came late, and with one that was there", async () => {
    const held = gate();
    const child = newChild([[text("Half"), held, streamError("provider down")]]);
    await child.start();
    const early = child.tail();
    await held.reached;
    const late = child.tail();
    held.open();
    const [first, second] = [await early, await late];
    expect(first).toEqual(second);
    expect(await child.inspect()).toMatchObject({ status: "error", error: "provider down" });
    expect(await child.tail()).toEqual(first);
  });

  it("§7.3.6: is an error when the turn could not begin, with its text", async () => {
    const child = newChild([]);
    Object.defineProperty(child.lab, "model", {
      get() {
        throw new Error("no model today");
      }
    });
    await child.start();
    expect(await child.over()).toMatchObject({ status: "error", error: "no model today" });
    const formatted = newChild(["never"], {
      input: () => {
        throw new Error("what is this?");
      }
    });
    await formatted.start();
    expect(await formatted.over()).toMatchObject({ status: "error", error: "what is this?" });
    expect(formatted.model.calls).toHaveLength(0);
  });

  it("trap 35: is `error`, not `aborted`, when the conversation was cleared meanwhile", async () => {
    const held = gate();
    const child = newChild([[text("Half"), held, hang()]]);
    await child.start();
    await held.reached;
    await runInAgent(child.stub(), (agent) => agent.clearMessages());
    const run = await child.over();
    expect(run?.status).toBe("error");
    expect(run?.error).toContain("skipped before the child could finish");
    expect(await child.kept()).toBe(0);
  });

  it("§7.3: is `error` with the skipped text when the conversation was cleared before its turn came", async () => {
    const held = gate();
    const child = newChild([[held, hang()], "never"]);
    await child.start("1", "one");
    await held.reached;
    await child.start("2", "two");
    await runInAgent(child.stub(), (agent) => agent.clearMessages());
    expect((await child.over("two"))?.error).toContain("skipped before the child could finish");
    expect(child.model.calls).toHaveLength(1);
  });

  it("trap 35: stays `aborted` with its reason when the cancelled turn unwinds", async () => {
    const held = gate();
    const child = newChild([[text("Half"), held, hang()]]);
    await child.start();
    await held.reached;
    await child.cancel("stop");
    const run = await child.inspect();
    expect(run).toMatchObject({ status: "aborted", error: "stop" });
    await vi.waitFor(async () => expect(await child.kept()).toBe(0), patient);
    expect(await child.inspect()).toEqual(run);
    expect(child.model.calls[0]?.status).toBe("aborted");
  });

  it("§7.5: a cancelled run that waits for its turn never asks the model", async () => {
    const held = gate();
    const child = newChild([[held, text("first")], "second"]);
    await child.start("1", "one");
    await held.reached;
    await child.start("2", "two");
    await child.cancel(new Error("too late"), "two");
    held.open();
    expect(await child.over("one")).toMatchObject({ status: "completed" });
    expect(await child.inspect("two")).toMatchObject({ status: "aborted", error: "too late" });
    await vi.waitFor(async () => expect(await child.kept()).toBe(0), patient);
    expect(child.model.calls).toHaveLength(1);
  });

  it("§7.5: cancel without a reason stores none; cancel of an unknown or ended run changes nothing", async () => {
    const held = gate();
    const child = newChild([[held, hang()]]);
    await child.start();
    await held.reached;
    await child.cancel();
    const run = await child.inspect();
    expect(run?.status).toBe("aborted");
    expect(run).not.toHaveProperty("error");
    await child.cancel("again");
    await child.cancel("who?", "nobody");
    expect(await child.inspect()).toEqual(run);
    expect(await child.inspect("nobody")).toBeNull();
  });

  it("trap 36: is not touched by an error frame of another request, nor by a failing turn of the same child", async () => {
    const held = gate();
    const child = newChild([[text("Fine"), held, text(" indeed")], [streamError("not my fault")]]);
    await child.start();
    await held.reached;
    await runInAgent(child.stub(), (agent) => {
      const frame = {
        type: "cf_agent_use_chat_response",
        id: "other",
        body: "boom",
        done: true,
        error: true
      };
      agent.broadcast(JSON.stringify(frame));
    });
    const other = runInAgent(child.stub(), (agent) => agent.saveMessages([userMessage("and you?")]));
    held.open();
    expect(await other).toMatchObject({ status: "error", error: "not my fault" });
    const run = await child.over();
    expect(run).toMatchObject({ status: "completed", summary: "Fine\n indeed" });
    expect(run).not.toHaveProperty("error");
  });

  it("is that of the whole turn when tools are called on the way", async () => {
    const child = newChild([[toolCall("write", { path: "/a.txt", content: "blue" })], "Written."]);
    await child.start();
    expect(await child.over()).toMatchObject({ status: "completed", summary: "Written." });
  });
});

describe("rows of the published package", () => {
  it("§7.1: in a table without output_json are read, ended and added to", async () => {
    const name = `old-${crypto.randomUUID()}`;
    openChild(name, { model: scriptedModel(["new"]) });
    const stub = env.ToolChild.getByName(name);
    await runInAgent(stub, (_agent, { storage: { sql } }) => {
      sql.exec(
        "CREATE TABLE cf_agent_tool_child_runs (run_id TEXT PRIMARY KEY, request_id TEXT, stream_id TEXT, status TEXT NOT NULL, summary TEXT, error_message TEXT, started_at INTEGER NOT NULL, completed_at INTEGER)"
      );
      sql.exec(
        "INSERT INTO cf_agent_tool_child_runs VALUES ('done', 'r', 's', 'completed', 'old', NULL, 1, 2), ('left', 'q', NULL, 'running', NULL, NULL, 1, NULL)"
      );
    });
    const inspect = (runId: string) => runInAgent(stub, (agent) => agent.inspectAgentToolRun(runId));
    expect(await inspect("done")).toEqual({
      runId: "done",
      requestId: "r",
      streamId: "s",
      status: "completed",
      summary: "old",
      startedAt: 1,
      completedAt: 2
    });
    expect((await inspect("left"))?.error).toContain("interrupted before the child could finish");
    await runInAgent(stub, (agent) => agent.startAgentToolRun("Go", { runId: "new" }));
    await vi.waitFor(
      async () => expect(await inspect("new")).toMatchObject({ status: "completed", summary: "new" }),
      patient
    );
    expect(await runInAgent(stub, (agent) => agent.getAgentToolChunks("done"))).toEqual([]);
  });
});
