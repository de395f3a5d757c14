/** Following agent-tool runs: tools.md §7.5, traps 35 to 38, durability.md §3.16; issue 7, "Tail", "Recovery" and "Bad input". */
import {
  crash,
  evict,
  fireAlarm,
  gate,
  hang,
  runInAgent,
  streamError,
  text,
  userMessage
} from "@cloudflare/think/testing";
import { describe, expect, it, vi } from "vitest";
import { linesOf, newChild, patient, textOf } from "./agent-tools-support";

const words = (count: number) => text(Array.from({ length: count }, (_, index) => `w${index} `));

type Child = ReturnType<typeof newChild>;

/** Reads a tail bit by bit; the reader lives inside the child. */
function openReader(child: Child, afterSequence = -1) {
  const state = { lines: "", isDone: false };
  const cancel = { now: () => {} };
  void runInAgent(child.stub(), async (agent) => {
    const stream = await agent.tailAgentToolRun(child.runId, { afterSequence });
    const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
    let isCancelled = false;
    cancel.now = () => (isCancelled = true);
    // One read at a time, however often one looks up from it: what comes to a read that nobody awaits is lost.
    let reading = reader.read();
    for (;;) {
      if (isCancelled) return reader.cancel();
      const next = await Promise.race([
        reading,
        new Promise<undefined>((resolve) => setTimeout(resolve, 20))
      ]);
      if (!next) continue;
      if (next.done) break;
      state.lines += next.value;
      reading = reader.read();
    }
    state.isDone = true;
  }).catch(() => undefined);
  return {
    get lines() {
      return linesOf(state.lines);
    },
    get isDone() {
      return state.isDone;
    },
    cancel: () => cancel.now(),
    saw: (part: string) => vi.waitFor(() => expect(textOf(linesOf(state.lines))).toContain(part), patient),
    done: () => vi.waitFor(() => expect(state.isDone).toBe(true), patient)
  };
}

describe("a tail", () => {
  it("§7.5: gives what was said and what is said, in order, without gap or repetition, to everybody", async () => {
    const [first, second] = [gate(), gate()];
    const child = newChild([[words(50), first, words(50), second, text("end")]]);
    await child.start();
    const early = openReader(child);
    await first.reached;
    await early.saw("w49 ");
    const middle = openReader(child);
    first.open();
    await second.reached;
    const late = child.tail();
    const rest = child.tail(60);
    second.open();
    const lines = await late;
    await early.done();
    await middle.done();
    expect(lines.map(({ sequence }) => sequence)).toEqual(lines.map((_, index) => index));
    expect(early.lines).toEqual(lines);
    expect(middle.lines).toEqual(lines);
    expect(await rest).toEqual(lines.slice(61));
    expect(await child.chunks()).toEqual(lines);
    expect(await child.kept()).toBe(0);
  });

  it("§7.5: chunks are there while the run goes on ([REC]), under the places of the tail", async () => {
    const held = gate();
    const child = newChild([[words(10), held, text("end")]]);
    await child.start();
    await held.reached;
    const soFar = await child.chunks();
    expect(textOf(soFar)).toContain("w9 ");
    held.open();
    expect((await child.tail()).slice(0, soFar.length)).toEqual(soFar);
  });

  it("§7.5: that is given up by its reader, or by a signal, does not stop the run", async () => {
    const held = gate();
    const child = newChild([[words(5), held, text("end")]]);
    await child.start();
    const reader = openReader(child);
    await reader.saw("w4 ");
    reader.cancel();
    const bySignal = runInAgent(child.stub(), async (agent) => {
      const controller = new AbortController();
      const stream = await agent.tailAgentToolRun(child.runId, { signal: controller.signal });
      setTimeout(() => controller.abort(), 1);
      return new Response(stream).text();
    });
    await bySignal;
    const closed = await runInAgent(child.stub(), async (agent) =>
      new Response(await agent.tailAgentToolRun(child.runId, { signal: AbortSignal.abort() })).text()
    );
    expect(closed).toBe("");
    held.open();
    expect(await child.over()).toMatchObject({ status: "completed" });
    await vi.waitFor(async () => expect(await child.kept()).toBe(0), patient);
  });

  it("closes when the run is cancelled, and at once for a run that is over or unknown", async () => {
    const held = gate();
    const child = newChild([[words(5), held, hang()]]);
    await child.start();
    await held.reached;
    const reader = openReader(child);
    await reader.saw("w4 ");
    await child.cancel("stop");
    await reader.done();
    expect(await child.tail()).toEqual(reader.lines);
    expect(await child.tail(undefined, "nobody")).toEqual([]);
    expect(await child.chunks(undefined, "nobody")).toEqual([]);
  });

  it("bounds memory when its reader is slow: what it has not asked for is not read", async () => {
    const child = newChild([[words(6_000), text("end")]]);
    await child.start();
    const result = await runInAgent(child.stub(), async (agent) => {
      const stream = await agent.tailAgentToolRun(child.runId);
      const reader = stream.getReader();
      const first = await reader.read();
      await vi.waitFor(
        async () => expect((await agent.inspectAgentToolRun(child.runId))?.completedAt).toBeDefined(),
        patient
      );
      const sizes = [first.value?.byteLength ?? 0];
      let bytes = new TextDecoder().decode(first.value);
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        sizes.push(next.value.byteLength);
        bytes += new TextDecoder().decode(next.value);
      }
      return { bytes, largest: Math.max(...sizes) };
    });
    expect(result.largest).toBeLessThan(200_000);
    expect(linesOf(result.bytes)).toEqual(await child.chunks());
    expect(textOf(linesOf(result.bytes))).toContain("w5999 end");
  });

  it.each([NaN, -Infinity, -7, "3", null, {}, undefined])(
    "bad input: afterSequence %s means the beginning",
    async (after) => {
      const child = newChild(["Fine"]);
      await child.start();
      await child.over();
      const all = await child.chunks();
      expect(all.length).toBeGreaterThan(3);
      expect(await child.chunks(after)).toEqual(all);
      expect(await child.tail(after)).toEqual(all);
    }
  );

  it.each([Infinity, Number.MAX_SAFE_INTEGER, 1e300])(
    "bad input: afterSequence %s is beyond everything",
    async (after) => {
      const child = newChild(["Fine"]);
      await child.start();
      expect(await child.tail(after)).toEqual([]);
      expect(await child.chunks(after)).toEqual([]);
      expect(await child.chunks(2.9)).toEqual(await child.chunks(2));
    }
  );

  it("keeps its places when somebody chats with the child afterwards", async () => {
    const child = newChild([words(20), "short", words(30)]);
    await child.start();
    const lines = await child.tail();
    await runInAgent(child.stub(), (agent) => agent.saveMessages([userMessage("and?")]));
    expect(await child.chunks()).toEqual(lines);
    await runInAgent(child.stub(), (agent) => agent.saveMessages([userMessage("more")]));
    await evict(child.stub());
    expect(await child.tail()).toEqual(lines);
    expect(await child.inspect()).toMatchObject({ status: "completed" });
    await runInAgent(child.stub(), (agent) => agent.clearMessages());
    expect(await child.chunks()).toEqual([]);
  });
});

describe("a run whose isolate died", () => {
  it("trap 38: is carried on and ends without anybody asking, and a tail of the new isolate sees it to its end", async () => {
    const [held, second] = [gate(), gate()];
    const child = newChild([
      [words(10), held, hang()],
      [text("on"), second, text("ward")]
    ]);
    await child.start();
    await held.reached;
    const before = await child.inspect();
    const seen = await child.chunks();
    await crash(child.stub());
    await fireAlarm(child.stub());
    await second.reached;
    const during = await child.inspect();
    expect(during?.status).toBe("running");
    expect(during?.requestId).not.toBe(before?.requestId);
    const reader = openReader(child, seen.at(-1)?.sequence);
    await reader.saw("on");
    second.open();
    await reader.done();
    expect(textOf(reader.lines)).toBe("onward");
    const all = await child.chunks();
    const places = all.map(({ sequence }) => sequence);
    expect(places).toEqual([...new Set(places)].toSorted((a, b) => a - b));
    expect(textOf(all)).toContain("onward");
    expect(all.slice(-reader.lines.length)).toEqual(reader.lines);
    const stored = await runInAgent(child.stub(), (_agent, { storage }) =>
      storage.sql.exec("SELECT status FROM cf_agent_tool_child_runs").toArray()
    );
    expect(stored).toEqual([{ status: "completed" }]);
    expect((await child.inspect())?.summary).toMatch(/^w0 .*\non\nward$/u);
  });

  it("trap 38: before its first word is asked again and ends completed", async () => {
    const held = gate();
    const child = newChild([[held, hang()], "Hello"]);
    await child.start();
    await held.reached;
    await crash(child.stub());
    expect(await child.tail()).not.toEqual([]);
    expect(await child.inspect()).toMatchObject({ status: "completed", summary: "Hello" });
  });

  it("trap 38, §3.16: that recovery gives up is an error, and a waiting tail is let go", async () => {
    const held = gate();
    const child = newChild([[text("Half"), held, hang()], [streamError("still down")]]);
    await child.start();
    await held.reached;
    await crash(child.stub());
    await child.tail();
    expect(await child.inspect()).toMatchObject({ status: "error", error: "still down" });
  });

  it("trap 38: is stopped by a cancel while recovery carries it on", async () => {
    const [held, second] = [gate(), gate()];
    const child = newChild([
      [text("Half"), held, hang()],
      [text("on"), second, hang()]
    ]);
    await child.start();
    await held.reached;
    await crash(child.stub());
    await child.inspect();
    await second.reached;
    await child.cancel("enough");
    await vi.waitFor(() => expect(child.model.calls[1]?.status).toBe("aborted"), patient);
    expect(await child.inspect()).toMatchObject({ status: "aborted", error: "enough" });
    await vi.waitFor(async () => expect(await child.kept()).toBe(0), patient);
  });

  it("before its turn came is begun anew, after what was interrupted, with its own question", async () => {
    const held = gate();
    const child = newChild([[text("Half"), held, hang()], "way", "Two."]);
    await child.start("1", "one");
    await held.reached;
    await child.start({ number: 2 }, "two");
    await crash(child.stub());
    const lines = await child.tail(undefined, "two");
    expect(textOf(lines)).toBe("Two.");
    expect(await child.inspect("one")).toMatchObject({ status: "completed", summary: "Half\nway" });
    expect(await child.inspect("two")).toMatchObject({ status: "completed", summary: "Two." });
    expect(JSON.stringify(child.model.calls[2]?.prompt)).toContain("number");
  });

  it("§7.5: with recovery off is an error, although half an answer exists", async () => {
    const held = gate();
    const child = newChild([[text("Half"), held, hang()], "never"], { chatRecovery: false });
    await child.start();
    await held.reached;
    await crash(child.stub());
    const unjudged = await runInAgent(child.stub(), (agent) =>
      agent.inspectAgentToolRun(child.runId, { reconcile: false })
    );
    expect(unjudged?.status).toBe("running");
    const run = await child.inspect();
    expect(run).toMatchObject({ status: "error" });
    expect(run?.error).toContain("interrupted before the child could finish");
    expect(child.model.calls).toHaveLength(1);
  });

  it("§3.16: an eviction after the end changes nothing", async () => {
    const child = newChild([words(10)]);
    await child.start();
    const lines = await child.tail();
    const run = await child.inspect();
    await evict(child.stub());
    expect(await child.inspect()).toEqual(run);
    expect(await child.tail()).toEqual(lines);
  });

  it("durability §11: a stall is a delayed completion, not an end", async () => {
    const child = newChild([[text("Half"), hang()], "way"], { stallMs: 300 });
    await child.start();
    const lines = await child.tail();
    expect(textOf(lines)).toBe("Halfway");
    expect(lines.map(({ sequence }) => sequence)).toEqual(lines.map((_, index) => index));
    expect(await child.inspect()).toMatchObject({ status: "completed", summary: "Half\nway" });
    expect(await child.kept()).toBe(0);
  });

  it("durability §11: a stall that recovery gives up is an error with its terminal message", async () => {
    const child = newChild([[text("Half"), hang()], [hang()]], {
      stallMs: 300,
      chatRecovery: { noProgressTimeoutMs: 30, terminalMessage: "It is over." }
    });
    await child.start();
    await child.tail();
    expect(await child.inspect()).toMatchObject({ status: "error", error: "It is over." });
  });
});
