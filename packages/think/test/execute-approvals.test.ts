/** Executions that wait for a person (tools.md §3.4, turns.md §7.9), over the socket and after restarts. */
import { evictDurableObject } from "cloudflare:test";
import { runInAgent } from "@cloudflare/think/testing";
import type { PendingAction } from "@cloudflare/think/tools/execute";
import type { UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import { code, idOf, newExecutor, outputs } from "./execute-support";
import type { ExecuteAgent } from "./worker/execute-agents";

const PAY = 'async () => { const { paid } = await tools.pay({ to: "Ada", amount: 5 }); return { paid }; }';
const PAY_TWICE = `async () => {
  const first = await tools.pay({ to: "Ada", amount: 1 });
  const second = await tools.pay({ to: "Bob", amount: 2 });
  return [first.paid, second.paid];
}`;

type Setup = Awaited<ReturnType<typeof newExecutor>>;

/** A conversation in which one execution waits. */
async function paused(source = PAY, more: readonly string[] = ["Paid."]) {
  const setup = await newExecutor([code(source), "It waits.", ...more]);
  await setup.client.chat("Pay").done;
  const [output] = outputs(await setup.client.history());
  return { ...setup, output, id: idOf(output) };
}

/** Calls a method as a browser does, and gives its answer. */
async function rpc(client: Setup["client"], method: string, ...args: unknown[]): Promise<unknown> {
  const id = crypto.randomUUID();
  const from = client.frames.length;
  client.send({ type: "rpc", id, method, args });
  const answer = await client.waitFor((frame) => frame.type === "rpc" && frame.id === id, { from });
  return answer.success === true ? answer.result : answer.error;
}

/** A stub's types do not carry `unknown`; these do. */
const stored = async (setup: Setup): Promise<UIMessage[]> => setup.stub().getMessages();
const pending = async (setup: Setup, id?: string): Promise<PendingAction[]> =>
  setup.stub().pendingExecutions(id);

const settled = (setup: Setup) =>
  runInAgent(setup.stub(), (agent) => agent["waitUntilStable"]({ timeout: 10_000 }));

const statuses = async (setup: Setup) => outputs(await setup.client.history()).map(({ status }) => status);

describe("§3.4 a call that needs approval", () => {
  it("trap 14: pauses the run before the tool has run; the model narrates and the turn ends", async () => {
    const { output, ran, client, model } = await paused();
    expect(output).toMatchObject({
      status: "paused",
      pending: [{ connector: "tools", method: "pay", args: { to: "Ada", amount: 5 } }]
    });
    expect(ran()).toEqual([]);
    expect((await client.history()).at(-1)?.parts.at(-1)).toMatchObject({ text: "It waits." });
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain('"status":"paused"');
  });

  it("runs when approved over the socket; the outcome replaces the pause and the model goes on", async () => {
    const setup = await paused();
    const { client, id, ran, model } = setup;
    expect(await rpc(client, "pendingExecutions")).toMatchObject([{ executionId: id, method: "pay" }]);
    const from = client.frames.length;
    const outcome = await rpc(client, "approveExecution", id);
    expect(outcome).toEqual({ status: "completed", executionId: id, result: { paid: 5 } });
    await client.waitFor("cf_agent_message_updated", { from });
    await settled(setup);
    expect(ran()).toEqual([{ to: "Ada", amount: 5 }]);
    expect(outputs(await client.history())).toEqual([outcome]);
    expect(JSON.stringify(model.calls[2]?.prompt)).toContain('"paid":5');
    expect((await client.history()).at(-1)?.parts.at(-1)).toMatchObject({ text: "Paid." });
    expect(await rpc(client, "pendingExecutions")).toEqual([]);
  });

  it("continues without any connection", async () => {
    const setup = await paused();
    await setup.client.close();
    const outcome = await setup.stub().approveExecution(setup.id);
    expect(outcome.status).toBe("completed");
    await settled(setup);
    const messages = await stored(setup);
    expect(messages.at(-1)?.parts.at(-1)).toMatchObject({ text: "Paid." });
  });

  it("always asks when the predicate is a function", async () => {
    const { output, ran } = await paused('async () => tools.note({ text: "hi" })');
    expect(output).toMatchObject({ status: "paused", pending: [{ method: "note" }] });
    expect(ran()).toEqual([]);
  });

  it("ends the pass: further calls are refused even if the code swallows the abort", async () => {
    const { output, ran, run } = await paused(`async () => {
      try { await tools.pay({ to: "Ada", amount: 5 }); } catch {}
      try { await tools.pay({ to: "Eve", amount: 6 }); } catch {}
      await tools.sum({ a: 1, b: 1 });
      return "went on";
    }`);
    expect(output).toMatchObject({ status: "paused", pending: [{ args: { to: "Ada" } }] });
    expect(output).not.toHaveProperty("result");
    expect(ran()).toEqual([]);
    expect(await run("async () => 1")).toMatchObject({ result: 1 });
  });

  it("that is different at the approved place is a divergence, not a call", async () => {
    const setup = await paused(
      'async () => tools.pay({ to: "Ada", amount: (await state.exists({ path: "/flag" })) ? 1000 : 1 })'
    );
    await runInAgent(setup.stub(), (agent) => agent.workspace.writeFile("/flag", "now"));
    expect(await setup.stub().approveExecution(setup.id)).toMatchObject({
      status: "error",
      error: expect.stringContaining("divergence")
    });
    expect(setup.ran()).toEqual([]);
  });

  it("trap 18: two in one code pause twice under one id, and the first is not repeated", async () => {
    const setup = await paused(PAY_TWICE);
    const again = await setup.stub().approveExecution(setup.id);
    expect(again).toMatchObject({
      status: "paused",
      executionId: setup.id,
      pending: [{ args: { to: "Bob", amount: 2 } }]
    });
    expect(setup.ran()).toHaveLength(1);
    expect(outputs(await setup.client.history())).toEqual([again]);
    expect(await setup.stub().approveExecution(setup.id)).toMatchObject({ result: [1, 2] });
    expect(setup.ran()).toHaveLength(2);
    await settled(setup);
    expect(await statuses(setup)).toEqual(["completed"]);
  });

  it("trap 21: two executions of one step are decided apart", async () => {
    const setup = await newExecutor([[code(PAY), code(PAY)], "Both wait.", "One paid."]);
    await setup.client.chat("Pay").done;
    const ids = outputs(await setup.client.history()).map(idOf);
    expect(new Set(ids).size).toBe(2);
    expect(await setup.stub().pendingExecutions()).toHaveLength(2);
    await setup.stub().approveExecution(ids[1] ?? "");
    await settled(setup);
    expect(await statuses(setup)).toEqual(["paused", "completed"]);
  });

  it("trap 21: long arguments are cut in the transcript, and whole where it counts", async () => {
    const setup = await paused('async () => tools.pay({ to: "x".repeat(5000), amount: 1 })');
    const shown = JSON.stringify(setup.output);
    expect(shown.length).toBeLessThan(4000);
    expect(shown).toContain("TRUNCATED");
    const [action] = await pending(setup, setup.id);
    expect(action).toMatchObject({ args: { to: "x".repeat(5000) } });
    await setup.stub().approveExecution(setup.id);
    expect((setup.ran()[0] as { to: string }).to).toHaveLength(5000);
  });
});

describe("§3.4 decisions", () => {
  it("trap 16: are taken once; a second approval is an error and changes nothing", async () => {
    const setup = await paused();
    const first = await setup.stub().approveExecution(setup.id);
    await settled(setup);
    const calls = setup.model.calls.length;
    expect(await setup.stub().approveExecution(setup.id)).toMatchObject({
      status: "error",
      executionId: setup.id,
      error: expect.stringContaining("not paused")
    });
    expect(await setup.stub().rejectExecution(setup.id)).toMatchObject({
      status: "error",
      error: expect.stringContaining("no longer pending")
    });
    await settled(setup);
    expect(outputs(await setup.client.history())).toEqual([first]);
    expect(setup.ran()).toHaveLength(1);
    expect(setup.model.calls).toHaveLength(calls);
  });

  it("trap 16: of two tabs at the same moment count once, and the outcome stays", async () => {
    const setup = await paused();
    const answers = await Promise.all([
      setup.stub().approveExecution(setup.id),
      setup.stub().approveExecution(setup.id),
      setup.stub().rejectExecution(setup.id)
    ]);
    expect(answers.map(({ status }) => status)).toEqual(["completed", "error", "error"]);
    await settled(setup);
    expect(setup.ran()).toHaveLength(1);
    expect(await statuses(setup)).toEqual(["completed"]);
  });

  it("reject: end the run with the reason, which the model is told", async () => {
    const setup = await paused(PAY, ["Understood."]);
    expect(await rpc(setup.client, "rejectExecution", setup.id, "too much")).toEqual({
      status: "rejected",
      executionId: setup.id,
      reason: "too much"
    });
    await settled(setup);
    expect(await statuses(setup)).toEqual(["rejected"]);
    expect(JSON.stringify(setup.model.calls[2]?.prompt)).toContain("too much");
    expect(setup.ran()).toEqual([]);
    const other = await paused();
    expect(await other.stub().rejectExecution(other.id)).toMatchObject({ reason: "Rejected by user" });
  });

  it("trap 17: after expiry replace the pause with the error, so that its card disappears", async () => {
    const setup = await paused();
    const expired = await runInAgent(setup.stub(), async (agent: ExecuteAgent) => {
      const runtime = agent.codemode as unknown as {
        expirePaused(options: { maxAgeMs: number }): Promise<string[]>;
      };
      return runtime.expirePaused({ maxAgeMs: -1 });
    });
    expect(expired).toEqual([setup.id]);
    const answer = await setup.stub().approveExecution(setup.id);
    expect(answer).toMatchObject({ status: "error", error: expect.stringContaining("not paused") });
    await settled(setup);
    expect(outputs(await setup.client.history())).toEqual([answer]);
    expect(setup.ran()).toEqual([]);
  });

  it("trap 19: about a call that is gone are told in a system message", async () => {
    const setup = await paused();
    await runInAgent(setup.stub(), (agent) => agent.clearMessages());
    expect(await setup.stub().approveExecution(setup.id)).toMatchObject({ status: "completed" });
    await settled(setup);
    const [told] = await stored(setup);
    expect(told).toMatchObject({ role: "system" });
    expect(told?.id).toMatch(new RegExp(`^exec-outcome-${setup.id}-`));
    expect(JSON.stringify(told)).toContain(setup.id);
    expect(setup.ran()).toHaveLength(1);
  });

  it("trap 20: find the runtime after a restart, through getTools()", async () => {
    const setup = await paused();
    await evictDurableObject(setup.stub(), { webSockets: "close" });
    const { before, asked } = await runInAgent(setup.stub(), (agent: ExecuteAgent) => ({
      before: agent.codemode === undefined,
      asked: agent.toolsAsked
    }));
    expect([before, asked]).toEqual([true, 0]);
    expect(await setup.stub().approveExecution(setup.id)).toMatchObject({ result: { paid: 5 } });
    await settled(setup);
    const messages = await stored(setup);
    expect(outputs(messages)).toMatchObject([{ status: "completed" }]);
  });

  it("about unknown executions, or without a runtime, are errors that are returned", async () => {
    const setup = await newExecutor();
    expect(await setup.stub().approveExecution("exec_none")).toMatchObject({
      status: "error",
      executionId: "exec_none",
      error: expect.stringContaining("No execution")
    });
    await runInAgent(setup.stub(), (agent: ExecuteAgent) => {
      agent.dropRuntime();
      agent.getTools = () => {
        throw new Error("no tools today");
      };
    });
    expect(await setup.stub().approveExecution("exec_none")).toMatchObject({
      error: expect.stringContaining("No codemode runtime")
    });
    expect(await setup.stub().rejectExecution("exec_none")).toMatchObject({ status: "error" });
    expect(await setup.stub().pendingExecutions()).toEqual([]);
    expect(await setup.stub().getMessages()).toEqual([]);
  });

  it("about code that needs a namespace which is gone name it, and the run stays paused", async () => {
    const setup = await paused();
    await runInAgent(setup.stub(), (agent: ExecuteAgent) => {
      agent.dropRuntime();
      agent.sandboxTools = () => ({});
    });
    const answer = await setup.stub().approveExecution(setup.id);
    expect(answer).toMatchObject({ error: expect.stringContaining("requires connector(s)") });
    expect(await statuses(setup)).toEqual(["paused"]);
    expect(await setup.stub().pendingExecutions()).toHaveLength(1);
  });

  it("arriving while the turn still streams are told to the model afterwards", async () => {
    const setup = await newExecutor([
      code(PAY),
      async () => {
        const [action] = await pending(setup);
        await setup.stub().approveExecution(action?.executionId ?? "");
        return "It waits.";
      },
      "Paid."
    ]);
    await setup.client.chat("Pay").done;
    await settled(setup);
    expect(await statuses(setup)).toEqual(["completed"]);
    expect((await setup.client.history()).at(-1)?.parts.at(-1)).toMatchObject({ text: "Paid." });
    expect(setup.model.calls).toHaveLength(3);
  });
});
