/** Stalls and overflow as turns.md tells them (§5.6, §5.7, §9.1, §9.6, §10, §12, traps 35–37); the same facts are in durability.md §4 and §5. */
import {
  crash,
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

const overflow = { reactive: true };
const tooLong = () => throwError("prompt is too long");
const near = (tokens: Parameters<typeof usage>[0]) => [toolCall("add", { a: 1, b: 2 }), usage(tokens)];

type Lab = ReturnType<typeof newLab>;
const payloads = ({ lab }: Lab, type: string) =>
  lab.events.filter((event) => event.type === type).map(({ payload }) => payload);

/** The ways a turn begins by code or by a client, each with what it shows of the end. */
const doors: Record<string, (lab: Lab) => Promise<unknown>> = {
  "a WebSocket request": async (lab) => (await (await lab.connect()).chat("Hi").done).error ?? "no error",
  "chat()": (lab) => runInAgent(lab.stub(), async (agent) => (await agent.recordChat("Hi")).at(-1)),
  "saveMessages()": (lab) =>
    runInAgent(lab.stub(), async (agent) => (await agent.saveMessages([userMessage("Hi")])).status),
  "continueLastTurn()": async (lab) => {
    const begun = { id: "a1", role: "assistant" as const, parts: [{ type: "text" as const, text: "Well" }] };
    await lab.stub().addMessages([userMessage("Hi"), begun]);
    return runInAgent(lab.stub(), (agent) => agent.carryOn());
  }
};

describe("turns §5.6 onInterrupted", () => {
  it("is never called when a turn completes or fails", async () => {
    const lab = newLab(["fine", [text("a"), streamError("boom")], throwError("worse")], { stallMs: 5_000 });
    const calls = [];
    for (let turn = 0; turn < 3; turn += 1)
      calls.push(await runInAgent(lab.stub(), (agent) => agent.recordChat("Hi")));
    expect(calls).toEqual([
      ["start", "done"],
      ["start", "error: boom"],
      ["start", "error: worse"]
    ]);
  });
});

describe("turns §5.7 the stall watchdog", () => {
  it("hands the turn over: partial stored, stream completed, clean end, status aborted, no hook, one event, a plan", async () => {
    const held = gate();
    const lab = newLab(
      [
        [text("Half"), hang()],
        [held, text("way")]
      ],
      { stallMs: 300 }
    );
    const saved = await runInAgent(lab.stub(), (agent) => agent.saveMessages([userMessage("Hi")]));
    expect(saved.status).toBe("aborted");
    expect(lab.lab.responses).toEqual([]);
    expect(payloads(lab, "chat:stream:stalled")).toEqual([{ requestId: saved.requestId, timeoutMs: 300 }]);
    expect((await lab.texts()).at(-1)).toEqual(["assistant", "step-start|Half"]);
    await held.reached;
    held.open();
    await lab.event("completed");
  });

  it("gives a turn up that stalls beyond its budget: the configured text, the stream's record an error, status aborted, the hook once (§1.3)", async () => {
    const lab = newLab(
      [
        [text("a"), hang()],
        [text("b"), hang()]
      ],
      { stallMs: 300 }
    );
    lab.lab.chatRecovery = {
      ...{ maxRecoveryWork: 0, terminalMessage: "It is over." },
      onExhausted: (context) => void lab.lab.exhausted.push(context)
    };
    const client = await lab.connect();
    await client.chat("Hi").done;
    await lab.event("exhausted");
    const end = await client.waitFor({ error: true });
    expect(end).toMatchObject({ type: "cf_agent_use_chat_response", body: "It is over.", done: true });
    const [row] = await runInAgent(lab.stub(), (_agent, { storage }) =>
      storage.sql.exec("SELECT status, error_message FROM cf_ai_chat_stream_metadata").toArray()
    );
    expect(row).toEqual({ status: "error", error_message: "It is over." });
    expect(lab.lab.exhausted).toMatchObject([{ reason: "work_budget_exceeded", partialText: "b" }]);
    expect(lab.lab.responses).toEqual([]);
  });

  it("with recovery off the turn fails like any other, with the reference's word for it, and the hook is told", async () => {
    const lab = newLab([[text("Half"), hang()]], { stallMs: 300, chatRecovery: false });
    expect(await doors["a WebSocket request"]?.(lab)).toContain("stalled");
    expect(lab.lab.errors).toMatchObject([{ stage: "stream", messagesPersisted: true }]);
    expect(lab.lab.responses).toEqual(["error"]);
    expect((await lab.texts()).at(-1)).toEqual(["assistant", "step-start|Half"]);
  });

  it("trap 37: does not re-arm the continuation that was held back: the model is asked once more, not twice", async () => {
    const asked = gate();
    const lab = newLab([[toolCall("ask_user", { q: "?" }), asked, hang()], "Thanks", "Twice"], {
      stallMs: 2_000
    });
    const client = await lab.connect();
    client.chat("Ask me", { clientTools: [{ name: "ask_user", description: "Asks." }] });
    await asked.reached;
    client.toolResult({ toolCallId: "call-1", toolName: "ask_user", output: "yes", autoContinue: true });
    asked.open();
    await lab.event("completed");
    expect(await runInAgent(lab.stub(), (agent) => agent.settle(20_000))).toBe(true);
    expect(lab.model.calls).toHaveLength(2);
    expect((await lab.texts()).at(-1)).toEqual(["assistant", "step-start|Thanks"]);
  });

  it("trap 37, §9.1.1: one turn's own limit, and one turn's compactions, are forgotten by the next", async () => {
    const patient = newLab([[text("a"), hang()], "b", [text("c"), delay(600), text("d")]], {
      turnConfig: { chatStreamStallTimeoutMs: 300 }
    });
    const client = await patient.connect();
    await client.chat("Hi").done;
    await patient.event("completed");
    delete patient.lab.turnConfig;
    expect((await client.chat("Again").done).text).toBe("cd");
    const full = newLab(
      [near({ inputTokens: 95, outputTokens: 1 }), "one", near({ inputTokens: 95, outputTokens: 1 }), "two"],
      {
        overflow: { proactive: { maxInputTokens: 100 } },
        compact: () => true
      }
    );
    const tab = await full.connect();
    await tab.chat("Hi").done;
    await tab.chat("Again").done;
    expect(payloads(full, "chat:context:compacted")).toHaveLength(2);
  });
});

describe("turns §10.2, §10.3 the reactive retry", () => {
  it.each(Object.entries(doors))(
    "trap 35: works through %s, with one compaction and one more model call",
    async (name, open) => {
      const lab = newLab([[text("cut"), streamError("prompt is too long")], "whole"], {
        overflow,
        compact: () => true
      });
      expect(await open(lab)).toMatch(/no error|done|completed/u);
      expect(lab.model.calls).toHaveLength(2);
      expect((await lab.texts()).at(-1)).toEqual(["assistant", "step-start|whole"]);
      expect(JSON.stringify(await lab.texts())).not.toContain("cut");
      expect(lab.lab.turns).toEqual(name === "continueLastTurn()" ? [true, true] : [false, false]);
      const [told] = payloads(lab, "chat:context:compacted");
      expect(told).toMatchObject({ reason: "reactive", shortened: true, attempt: 1 });
      expect(lab.lab.classified).toMatchObject([
        { context: { stage: "stream", requestId: expect.any(String) } }
      ]);
    }
  );

  it("works for a turn that recovery carries on, too", async () => {
    const begun = gate();
    const lab = newLab([[begun, hang()], tooLong(), "whole"], { overflow, compact: () => true });
    (await lab.connect()).chat("Hi");
    await begun.reached;
    await crash(lab.stub());
    await lab.stub().getMessages();
    await lab.event("completed");
    expect((await lab.texts()).at(-1)).toEqual(["assistant", "step-start|whole"]);
  });

  it.each(Object.entries(doors))(
    "trap 35: a stop at that moment means no compaction: %s",
    async (_name, open) => {
      const lab = newLab([[text("a"), streamError("prompt is too long")]], {
        ...{ overflow, stopsWhenClassified: true, compact: () => true }
      });
      await open(lab);
      expect(payloads(lab, "chat:context:compacted")).toEqual([]);
      expect(lab.model.calls).toHaveLength(1);
      expect(lab.lab.errors).toEqual([]);
    }
  );

  it.each(Object.entries(doors))(
    "trap 35: a compaction in vain ends it, classified, once: %s",
    async (_name, open) => {
      const lab = newLab([tooLong()], { overflow, compact: () => false });
      expect(await open(lab)).toMatch(/too long|error/u);
      expect(lab.model.calls).toHaveLength(1);
      expect(lab.lab.errors).toMatchObject([
        { stage: "stream", messagesPersisted: true, classification: "context_overflow" }
      ]);
      expect(payloads(lab, "chat:request:failed")).toMatchObject([
        { stage: "stream", messagesPersisted: true }
      ]);
      expect(payloads(lab, "chat:context:compacted")).toMatchObject([{ shortened: false }]);
    }
  );

  it("maxRetries is its bound, and its attempts are counted from 1", async () => {
    const lab = newLab([tooLong(), tooLong(), "whole"], {
      overflow: { reactive: true, maxRetries: 2 },
      compact: () => true
    });
    expect(await doors["a WebSocket request"]?.(lab)).toBe("no error");
    expect(payloads(lab, "chat:context:compacted")).toMatchObject([{ attempt: 1 }, { attempt: 2 }]);
  });
});

describe("turns §10.4 the proactive guard", () => {
  const run = async (tokens: Parameters<typeof usage>[0], proactive: object = {}) => {
    const lab = newLab([near(tokens), near(tokens), "done"], {
      overflow: { proactive: { maxInputTokens: 100, ...proactive } },
      compact: () => true
    });
    expect(await doors["a WebSocket request"]?.(lab)).toBe("no error");
    return payloads(lab, "chat:context:compacted");
  };

  it("looks at the input tokens of the last step, with the room that is asked for, once by default", async () => {
    expect(await run({ inputTokens: 89, outputTokens: 5 })).toEqual([]);
    expect(await run({ inputTokens: 90, outputTokens: 5 })).toEqual([
      { reason: "proactive", shortened: true }
    ]);
    expect(await run({ inputTokens: 60, outputTokens: 5 }, { headroom: 0.5 })).toHaveLength(1);
    expect(await run({ inputTokens: 95, outputTokens: 5 }, { maxCompactions: 2 })).toHaveLength(2);
  });

  it("a failure leaves the step as it is", async () => {
    const lab = newLab([near({ inputTokens: 95, outputTokens: 1 }), "done"], {
      overflow: { proactive: { maxInputTokens: 100 } },
      compact: () => {
        throw new Error("no summary today");
      }
    });
    expect(await doors["a WebSocket request"]?.(lab)).toBe("no error");
    expect(payloads(lab, "chat:context:compacted")).toEqual([]);
  });

  it("trap 36: has a budget of its own: a turn may use both it and the reactive retry", async () => {
    const lab = newLab([near({ inputTokens: 95, outputTokens: 1 }), tooLong(), "whole"], {
      overflow: { reactive: true, proactive: { maxInputTokens: 100 } },
      compact: () => true
    });
    expect(await doors["a WebSocket request"]?.(lab)).toBe("no error");
    expect(payloads(lab, "chat:context:compacted")).toMatchObject([
      { reason: "proactive" },
      { reason: "reactive" }
    ]);
  });

  it("§9.6: runs before beforeStep, whose own messages win", async () => {
    const seen: number[] = [];
    const lab = newLab([near({ inputTokens: 95, outputTokens: 1 }), "done"], {
      overflow: { proactive: { maxInputTokens: 100 } },
      compact: () => true,
      beforeStep: ({ stepNumber }) => {
        seen.push(payloads(lab, "chat:context:compacted").length);
        return stepNumber === 0 ? undefined : { messages: [{ role: "user", content: "Mine." }] };
      }
    });
    expect(await doors["a WebSocket request"]?.(lab)).toBe("no error");
    expect(seen).toEqual([0, 1]);
    expect(lab.model.calls[1]?.userText).toBe("Mine.");
    expect(JSON.stringify(lab.model.calls[1]?.prompt)).not.toContain("tool-result");
  });
});

it("turns §10.1 a turn that fails while it is recovered tells onChatError once, with its stage", async () => {
  const begun = gate();
  const lab = newLab([[begun, hang()], throwError("boom")]);
  (await lab.connect()).chat("Hi");
  await begun.reached;
  await crash(lab.stub());
  await lab.stub().getMessages();
  await lab.event("failed");
  expect(lab.lab.errors).toMatchObject([{ stage: "stream", messagesPersisted: true }]);
  await vi.waitFor(() => expect(lab.lab.responses).toEqual(["error"]));
});
