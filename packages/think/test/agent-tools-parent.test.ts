/** Agent-tool runs with the parent of the Agents SDK: tools.md §7.6, issue 7. */
import {
  gate,
  hang,
  runInAgent,
  scriptedModel,
  streamError,
  text,
  toolCall
} from "@cloudflare/think/testing";
import { describe, expect, it, vi } from "vitest";
import { newFamily, patient, runFrames } from "./agent-tools-support";
import { openChild } from "./worker/agent-tools-agents";

/** A call id that no other test uses: it names the child. */
const callId = () => `call-${crypto.randomUUID()}`;

const research = (id: string, query = "sky") => toolCall("research", { query }, { id });

describe("a parent's tool call", () => {
  it("§7.6: runs a child, shows its progress and gets its summary", async () => {
    const id = callId();
    const { connect, model, rows } = newFamily([[research(id)], "Done."], {
      [id]: [text(["It ", "is ", "blue."])]
    });
    const client = await connect();
    const turn = await client.chat("Why?").done;
    expect(turn.text).toBe("Done.");
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain("It is blue.");
    const frames = runFrames(client);
    expect(frames.map(({ sequence }) => sequence)).toEqual(frames.map((_, index) => index));
    expect(frames.map(({ event }) => event.kind).filter((kind) => kind !== "chunk")).toEqual([
      "started",
      "finished"
    ]);
    expect(frames[0]).toMatchObject({ parentToolCallId: id, event: { display: { name: "Researcher" } } });
    expect(frames.at(-1)?.event.summary).toBe("It is blue.");
    expect(await rows()).toMatchObject([{ run_id: `agent-tool:${id}`, status: "completed" }]);
  });

  it("trap 36, seed 001 §8.2: that fails leaves its sibling alone", async () => {
    const [good, bad] = [callId(), callId()];
    const both = gate();
    const { connect, rows } = newFamily([[research(good), research(bad)], "Done."], {
      [good]: [[text("Fine"), both, text(" indeed")]],
      [bad]: [[text("Half"), streamError("provider down")]]
    });
    const client = await connect();
    const turn = client.chat("Why?");
    await both.reached;
    await client.waitFor((frame) => JSON.stringify(frame).includes("provider down"));
    both.open();
    await turn.done;
    const statuses = Object.fromEntries(
      (await rows()).map((row) => [row.run_id, [row.status, row.error_message]])
    );
    expect(statuses).toEqual({
      [`agent-tool:${good}`]: ["completed", null],
      [`agent-tool:${bad}`]: ["error", "provider down"]
    });
  });

  it("stops with the browser's stop, and its child too", async () => {
    const id = callId();
    const held = gate();
    const { connect, rows, children } = newFamily([[research(id)], "never"], {
      [id]: [[text("Half"), held, hang()]]
    });
    const client = await connect();
    const turn = client.chat("Why?");
    await held.reached;
    turn.cancel();
    await turn.done;
    await vi.waitFor(async () => expect(await rows()).toMatchObject([{ status: "aborted" }]), patient);
    await vi.waitFor(() => expect(children.get(id)?.calls[0]?.status).toBe("aborted"), patient);
  });
});

describe("what a parent gets", () => {
  const measure = (id: string) => toolCall("measure", { query: "sky" }, { id });

  it("§7.6: is the structured output when a schema asks for one, and a failure when there is none", async () => {
    const [good, bad] = [callId(), callId()];
    const { connect, model } = newFamily([[measure(good), measure(bad)], "Done."], {
      [good]: { script: ["Measured."], output: () => ({ value: 7 }) },
      [bad]: ["Measured."]
    });
    await (await connect()).chat("How much?").done;
    const prompt = JSON.stringify(model.calls[1]?.prompt);
    expect(prompt).toContain('"value":7');
    expect(prompt).toContain("without structured output");
  });

  it("§7.6: is shown to a client that comes later under the same places, and kept until it is cleared", async () => {
    const id = callId();
    const { connect, stub, rows } = newFamily([[research(id)], "Done."], {
      [id]: [text(["It ", "is ", "blue."])]
    });
    const client = await connect();
    await client.chat("Why?").done;
    const live = runFrames(client);
    const late = await connect();
    await late.waitFor(
      (frame) => frame.type === "agent-tool-event" && JSON.stringify(frame).includes("finished")
    );
    const replayed = runFrames(late);
    expect(replayed.every(({ replay }) => replay === true)).toBe(true);
    expect(replayed.map(({ sequence, event }) => ({ sequence, event }))).toEqual(
      live.map(({ sequence, event }) => ({ sequence, event }))
    );
    await runInAgent(stub(), (agent) => agent.clearRuns());
    expect(await rows()).toEqual([]);
    expect(await runInAgent(stub(), (agent) => agent.inspectChild(`agent-tool:${id}`))).toBeNull();
  });

  it("§7.6: of a detached run comes later, through the finish hook; of a terminal-only run without its chunks", async () => {
    const [detached, terminal] = [`d-${callId()}`, `t-${callId()}`];
    const { connect, stub } = newFamily([], {});
    const client = await connect();
    openChild(detached, { model: scriptedModel(["later"]) });
    openChild(terminal, { model: scriptedModel(["now"]) });
    expect(await runInAgent(stub(), (agent) => agent.delegateQuietly(detached, "detached"))).toBe("running");
    await vi.waitFor(
      async () =>
        expect(await runInAgent(stub(), (agent) => agent.finished)).toMatchObject([
          { runId: detached, status: "completed" }
        ]),
      patient
    );
    expect(await runInAgent(stub(), (agent) => agent.delegateQuietly(terminal, "terminal"))).toBe(
      "completed"
    );
    const kinds = runFrames(client, terminal).map(({ event }) => event.kind);
    expect(kinds).toEqual(["started", "finished"]);
  });

  it("is cleared while it runs: the child is stopped and gone, and nobody waits for it", async () => {
    const id = callId();
    const held = gate();
    const { connect, stub, rows } = newFamily([[research(id)], "Done."], {
      [id]: [[text("Half"), held, hang()]]
    });
    const client = await connect();
    const turn = client.chat("Why?");
    await held.reached;
    await runInAgent(stub(), (agent) => agent.clearRuns());
    expect((await turn.done).text).toBe("Done.");
    expect(await rows()).toEqual([]);
    expect(await runInAgent(stub(), (agent) => agent.inspectChild(`agent-tool:${id}`))).toBeNull();
  });

  it("durability §11: of a child that stalls is a delayed completion", async () => {
    const id = callId();
    const { connect, rows } = newFamily([[research(id)], "Done."], {
      [id]: { script: [[text("Half"), hang()], "way"], stallMs: 300 }
    });
    await (await connect()).chat("Why?").done;
    expect(await rows()).toMatchObject([{ status: "completed", summary: "Half\nway" }]);
  });

  it("durability trap 5: three chunks in a burst are one progress of the parent, a silent child is none", async () => {
    const progress = async (script: Parameters<typeof newFamily>[1][string]) => {
      const id = callId();
      const { connect, stub } = newFamily([[research(id)], "Done."], { [id]: script });
      const client = await connect();
      client.chat("Why?");
      return {
        id,
        client,
        read: () =>
          runInAgent(
            stub(),
            (_agent, { storage }) =>
              storage.sql.exec("SELECT progress FROM cf_ai_chat_stream_metadata").one().progress
          )
      };
    };
    const held = gate();
    const talking = await progress([[text(["a", "b", "c"]), held]]);
    await held.reached;
    await talking.client.waitFor(
      (frame) => frame.type === "agent-tool-event" && JSON.stringify(frame).includes('\\"c\\"')
    );
    await vi.waitFor(async () => expect(await talking.read()).toBe(1), patient);
    held.open();
    const quiet = gate();
    const silent = await progress([[quiet]]);
    await quiet.reached;
    expect(await silent.read()).toBe(0);
    quiet.open();
  });
});

describe("bad input", () => {
  const failed = async (kind: "ToolChild" | "Nowhere" | "PlainChild") => {
    const { stub, connect, rows } = newFamily([], {});
    const client = await connect();
    const runId = `bad-${crypto.randomUUID()}`;
    if (kind === "ToolChild")
      openChild(runId, {
        model: scriptedModel([]),
        start: () => {
          throw new Error("no thanks");
        }
      });
    const [result] = await runInAgent(stub(), (agent) => agent.delegate([runId], kind));
    expect(result).toMatchObject({ runId, status: "error" });
    expect(await rows()).toMatchObject([{ status: "error", error_message: result?.error }]);
    expect(await runInAgent(stub(), (agent) => agent.finished)).toEqual([
      { runId, status: "error", error: result?.error }
    ]);
    await client.waitFor((frame) => JSON.stringify(frame).includes('"kind":"error"'));
    return result?.error ?? "";
  };

  it("a child that throws in onStart is a failed run with its text, for the caller, the row, the hook and clients", async () => {
    expect(await failed("ToolChild")).toContain("no thanks");
  });

  it("a child class that the Worker does not export is a failed run that says so", async () => {
    expect(await failed("Nowhere")).toContain("Nowhere");
  });

  it("a child that is no agent tool is a failed run that says so", async () => {
    expect(await failed("PlainChild")).toContain("startAgentToolRun");
  });

  it("100 children at once all end, each with its own answer", async () => {
    const { stub } = newFamily([], {});
    const runs = Array.from({ length: 100 }, (_, index) => `many-${index}-${crypto.randomUUID()}`);
    for (const [index, runId] of runs.entries())
      openChild(runId, {
        model: scriptedModel([
          index % 10 === 3 ? [text("x"), streamError(`down ${index}`)] : `answer ${index}`
        ])
      });
    const results = await runInAgent(stub(), (agent) => agent.delegate(runs));
    expect(results.map(({ status, summary, error }) => [status, error ?? summary])).toEqual(
      runs.map((_, index) =>
        index % 10 === 3 ? ["error", `down ${index}`] : ["completed", `answer ${index}`]
      )
    );
  }, 60_000);

  const loop = (): unknown => {
    const self: Record<string, unknown> = {};
    return Object.assign(self, { self });
  };
  const broken = (): unknown => {
    throw new Error("no output");
  };

  it.each([
    ["an output that has no JSON", (): unknown => () => 1, "completed"],
    ["an output that refers to itself", loop, "completed"],
    ["an output of a BigInt", (): unknown => 1n, "completed"],
    ["an output that is too large", (): unknown => "x".repeat(600_000), "error"],
    ["an output hook that throws", broken, "error"]
  ] as const)("%s ends the run", async (_name, output, status) => {
    const { stub } = newFamily([], {});
    const runId = `output-${crypto.randomUUID()}`;
    openChild(runId, { model: scriptedModel(["Fine"]), output });
    const [result] = await runInAgent(stub(), (agent) => agent.delegate([runId]));
    expect(result?.status).toBe(status);
    if (status === "error") expect(result?.error).toMatch(/too large|no output/u);
  });

  it.each(["", "x".repeat(501), 7, null])("%s is no run id", async (runId) => {
    const { stub } = newFamily([], {});
    const error = await runInAgent(stub(), (agent) =>
      agent.startChild("child", "Go", runId as never).catch(String)
    );
    expect(error).toContain("run id");
  });
});
