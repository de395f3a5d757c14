/** Streams that fall silent (durability.md §4, §11.2–11.5, traps 24, 25) and conversations that outgrow the model (§5, traps 26–28). */
import {
  delay,
  gate,
  hang,
  runInAgent,
  streamError,
  text,
  throwError,
  toolCall,
  usage,
  userMessage
} from "@cloudflare/think/testing";
import { describe, expect, it, vi } from "vitest";
import { newLab } from "./recovery-support";

const ended = (frames: readonly { readonly done?: unknown; readonly id?: unknown }[], id: string) =>
  frames.filter((frame) => frame.done === true && frame.id === id);

describe("§4, turns §5.7 a stream that falls silent", () => {
  it("edges §21: ends its request as recovering, and the recovered turn with the ids of its question, live and after a reconnect", async () => {
    const continued = gate();
    const { connect, event } = newLab(
      [
        [text("Half"), hang()],
        [continued, text("way")]
      ],
      { stallMs: 300 }
    );
    const client = await connect();
    const turn = client.chat([userMessage("Hi", "question")]);
    const names = { messageIds: ["question"] };
    expect((await turn.done).frames.at(-1)).toMatchObject({ done: true, outcome: "recovering", ...names });
    await continued.reached;
    continued.open();
    await event("completed");
    await vi.waitFor(() =>
      expect(client.frames.findLast(({ done }) => done === true)).toMatchObject({
        outcome: "completed",
        ...names
      })
    );
  });

  it("is handed to recovery: partial kept, one clean end, no hook, and the turn goes on", async () => {
    const { connect, event, texts, lab, types, rest } = newLab([[text("Half"), hang()], "way"], {
      stallMs: 300
    });
    const client = await connect();
    const turn = client.chat("Hi");
    expect((await turn.done).error).toBeUndefined();
    expect(ended(client.frames, turn.id)).toHaveLength(1);
    await event("completed");
    expect(await texts()).toEqual([
      ["user", "Hi"],
      ["assistant", "step-start|Half"],
      ["assistant", "step-start|way"]
    ]);
    expect(lab.events.filter(({ type }) => type === "chat:stream:stalled")).toMatchObject([
      { payload: { requestId: turn.id, timeoutMs: 300 } }
    ]);
    expect(lab.responses).toEqual(["completed"]);
    expect(types()).not.toContain("chat:recovery:failed");
    await vi.waitFor(async () => expect(await rest()).toEqual({ keys: [], schedules: [], alarm: null }));
  });

  it("§11.2: before any word is asked again, not continued", async () => {
    const { stub, event, texts, lab } = newLab([[hang()], "Hello"], { stallMs: 300 });
    expect(await runInAgent(stub(), (agent) => agent.saveMessages([userMessage("Hi")]))).toMatchObject({
      status: "aborted"
    });
    await event("completed");
    expect(lab.turns).toEqual([false, false]);
    expect((await texts()).at(-1)).toEqual(["assistant", "step-start|Hello"]);
  });

  it("trap 25, turns §5.6: tells a chat() callback that it was interrupted, once, and nothing else", async () => {
    const { stub, event } = newLab([[text("Half"), hang()], "way"], { stallMs: 300 });
    expect(await runInAgent(stub(), (agent) => agent.recordChat("Hi"))).toEqual(["start", "interrupted"]);
    await event("completed");
  });

  it("§11.4: again in its continuation stays one incident that goes on", async () => {
    const { connect, event, types } = newLab([[text("a"), hang()], [text("b"), hang()], "c"], {
      stallMs: 300
    });
    await (await connect()).chat("Hi").done;
    await event("completed");
    expect(types().filter((type) => type.endsWith("scheduled"))).toHaveLength(2);
    expect(types()).not.toContain("chat:recovery:failed");
    expect(types().filter((type) => type.endsWith("detected"))).toHaveLength(1);
  });

  it("trap 25, turns §5.7: beyond its budget shows the configured text, never the raw one, with one end", async () => {
    const { connect, event, lab } = newLab(
      [
        [text("a"), hang()],
        [text("b"), hang()]
      ],
      {
        stallMs: 300,
        chatRecovery: {
          maxRecoveryWork: 0,
          terminalMessage: "It is over.",
          onExhausted: (context) => void lab.exhausted.push(context)
        }
      }
    );
    const client = await connect();
    await client.chat("Hi").done;
    await event("exhausted");
    const last = await client.waitFor((frame) => frame.error === true);
    expect(last).toMatchObject({ body: "It is over.", done: true });
    expect(lab.exhausted).toHaveLength(1);
    expect(lab.responses).toEqual([]);
  });

  it("trap 25: of a provider that opens its stream and never says a word uses up its attempts", async () => {
    const silent = Array.from({ length: 8 }, () => [hang()]);
    const { connect, event, model, lab } = newLab([[text("a"), hang()], ...silent], {
      stallMs: 300,
      chatRecovery: { noProgressTimeoutMs: 30, terminalMessage: "It is over." }
    });
    const client = await connect();
    client.chat("Hi");
    await event("exhausted");
    expect(model.calls).toHaveLength(2);
    expect(lab.events.at(-1)?.payload).toMatchObject({ reason: "no_progress_timeout" });
  });

  it("with recovery off fails like any stream, and the author is told the stage", async () => {
    const { connect, lab } = newLab([[text("Half"), hang()]], { stallMs: 300, chatRecovery: false });
    const { error } = await (await connect()).chat("Hi").done;
    expect(error).toContain("stalled");
    expect(lab.errors).toMatchObject([{ stage: "stream" }]);
  });

  it("trap 24, turns trap 37: a slow but steady one is left alone; a turn may arm or disarm the watchdog for itself", async () => {
    const steady = [text("a"), delay(500), text("b"), delay(500), text("c"), delay(500), text("d")];
    const slow = newLab([steady], { stallMs: 1_400 });
    expect((await (await slow.connect()).chat("Hi").done).text).toBe("abcd");
    const disarmed = newLab([[text("a"), delay(600), text("b")]], {
      stallMs: 300,
      turnConfig: { chatStreamStallTimeoutMs: 0 }
    });
    expect((await (await disarmed.connect()).chat("Hi").done).text).toBe("ab");
    const armed = newLab([[text("a"), hang()], "b"], { turnConfig: { chatStreamStallTimeoutMs: 300 } });
    await (await armed.connect()).chat("Hi").done;
    await armed.event("completed");
  });

  it("trap 24, turns trap 37: an error in the stream with the watchdog armed ends it cleanly", async () => {
    const { connect } = newLab([[text("a"), streamError("boom")], "fine"], { stallMs: 300 });
    const client = await connect();
    expect((await client.chat("Hi").done).error).toBe("boom");
    expect((await client.chat("Again").done).text).toBe("fine");
  });
});

describe("§5, turns §10.2–10.4 a conversation that does not fit the model", () => {
  const overflow = { reactive: true };
  const tooLong = () => throwError("prompt is too long");

  it("trap 26, turns trap 35: is compacted and asked again with exactly one end, and the cut answer is nowhere", async () => {
    const compactions: string[] = [];
    const { connect, texts, lab } = newLab([[text("cut"), streamError("prompt is too long")], "whole"], {
      overflow,
      compact: (_agent, reason) => compactions.push(reason) > 0
    });
    const client = await connect();
    const turn = client.chat("Hi");
    expect((await turn.done).error).toBeUndefined();
    expect(ended(client.frames, turn.id)).toHaveLength(1);
    expect(await texts()).toEqual([
      ["user", "Hi"],
      ["assistant", "step-start|whole"]
    ]);
    expect(lab.turns).toEqual([false, false]);
    expect(compactions).toEqual(["reactive"]);
    expect(lab.events.find(({ type }) => type === "chat:context:compacted")?.payload).toEqual({
      reason: "reactive",
      shortened: true,
      requestId: turn.id,
      attempt: 1
    });
  });

  it("trap 26, turns trap 35: by default twice and then fails, classified, on every entry path", async () => {
    const settings = { overflow, compact: () => true };
    const socket = newLab([tooLong(), tooLong()], settings);
    expect((await (await socket.connect()).chat("Hi").done).error).toContain("too long");
    const api = newLab([tooLong(), tooLong()], settings);
    const saved = await runInAgent(api.stub(), (agent) => agent.saveMessages([userMessage("Hi")]));
    expect(saved.status).toBe("error");
    const rpc = newLab([tooLong(), tooLong()], settings);
    const calls = await runInAgent(rpc.stub(), (agent) => agent.recordChat("Hi"));
    expect(calls).toMatchObject(["start", expect.stringContaining("error: ")]);
    for (const { lab, model } of [socket, api, rpc]) {
      expect(model.calls).toHaveLength(2);
      expect(lab.errors).toMatchObject([{ stage: "stream", classification: "context_overflow" }]);
    }
  });

  it("a compaction that does nothing, or does not exist, ends it after one model call", async () => {
    const vain = newLab([tooLong()], { overflow, compact: () => false });
    expect((await (await vain.connect()).chat("Hi").done).error).toContain("too long");
    const none = newLab([tooLong()], { overflow });
    expect((await (await none.connect()).chat("Hi").done).error).toContain("too long");
    expect(none.lab.errors).toMatchObject([{ classification: "context_overflow" }]);
  });

  it("§5: other errors and agents that did not ask for it are left alone", async () => {
    const other = newLab([throwError("boom")], { overflow, compact: () => true });
    expect((await (await other.connect()).chat("Hi").done).error).toBe("boom");
    const off = newLab([tooLong()], { compact: () => true });
    expect((await (await off.connect()).chat("Hi").done).error).toContain("too long");
    expect(off.lab.errors).toMatchObject([{ classification: undefined }]);
  });

  it("trap 27, turns trap 35: is not compacted for a turn that was stopped", async () => {
    const compactions: string[] = [];
    const { connect, lab } = newLab([[text("a"), streamError("prompt is too long")]], {
      overflow,
      stopsWhenClassified: true,
      compact: (_agent, reason) => compactions.push(reason) > 0
    });
    const turn = (await connect()).chat("Hi");
    expect((await turn.done).frames.at(-1)).toMatchObject({ done: true, outcome: "aborted" });
    expect(compactions).toEqual([]);
    expect(lab.errors).toEqual([]);
  });

  it("trap 28, turns trap 36: is compacted in mid-turn, keeps each tool call with its result, and a vain attempt is not repeated", async () => {
    const near = [toolCall("add", { a: 1, b: 2 }), usage({ inputTokens: 95, outputTokens: 1 })];
    const run = async (shortened: boolean, maxCompactions: number) => {
      const reasons: string[] = [];
      const lab = newLab([near, near, near, "done"], {
        overflow: { proactive: { maxInputTokens: 100, maxCompactions } },
        compact: (_agent, reason) => {
          reasons.push(reason);
          return shortened;
        }
      });
      expect((await (await lab.connect()).chat("Hi").done).error).toBeUndefined();
      const prompt = JSON.stringify(lab.model.calls.at(-1)?.prompt);
      const ids = (type: string) =>
        [...prompt.matchAll(new RegExp(`"type":"${type}","toolCallId":"([^"]+)"`, "g"))].map(([, id]) => id);
      expect(ids("tool-call")).toHaveLength(3);
      expect(ids("tool-result")).toEqual(ids("tool-call"));
      return reasons;
    };
    expect(await run(true, 2)).toEqual(["proactive", "proactive"]);
    expect(await run(false, 1)).toEqual(["proactive"]);
  });
});
