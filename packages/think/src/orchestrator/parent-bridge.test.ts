/** The child's end when the line fails (`design/orchestrator.md`, "The bridge is pulled, not pushed"). */
import { describe, expect, it } from "vitest";
import type { RemoteToolBridge } from "./bridge-protocol";
import { BridgeLine } from "./bridge-line";
import { ParentBridge } from "./parent-bridge";
import type { Clock } from "../shared/clock";

interface FakeBridge extends RemoteToolBridge, Disposable {}

function bridge(overrides: Partial<RemoteToolBridge> = {}): FakeBridge & { disposed: number } {
  return {
    disposed: 0,
    describe: async () => JSON.stringify({ ok: true, output: { tools: [note], callTimeoutMs: 1000 } }),
    call: async () => JSON.stringify({ ok: true, output: "noted" }),
    abort: async () => undefined,
    file: async () => ({ kind: "content", content: "text" }),
    ...overrides,
    [Symbol.dispose]() {
      this.disposed += 1;
    }
  };
}

const note = { name: "note", description: "Notes.", inputSchema: { type: "object" } };
const lost = async () => {
  throw new Error("Network connection lost");
};
const options = { toolCallId: "1", messages: [] } as never;

describe("ParentBridge", () => {
  it("opens and disposes one stub per use", async () => {
    const stub = bridge();
    const parent = new ParentBridge(async () => stub);
    const tools = await parent.tools({ prefix: "shared_" });
    expect(Object.keys(tools)).toEqual(["shared_note"]);
    expect(await tools.shared_note?.execute?.({}, options)).toBe("noted");
    expect(await parent.workspace.readFile("/a")).toBe("text");
    expect(stub.disposed).toBe(3);
  });

  it("reads again on a new stub when the parent was lost, and does nothing else twice", async () => {
    const calls: string[] = [];
    const stubs = () =>
      bridge({ file: ({ kind }) => (calls.push(kind), lost()), call: () => (calls.push("call"), lost()) });
    const parent = new ParentBridge(async () => stubs());
    await expect(parent.workspace.readFile("/a")).rejects.toMatchObject({
      code: "parent-lost",
      retryable: true
    });
    await expect(parent.workspace.writeFile("/a", "b")).rejects.toMatchObject({
      code: "parent-lost",
      retryable: false
    });
    const { note: shared } = await parent.tools();
    await expect(shared?.execute?.({}, options)).rejects.toThrow(
      'The parent was lost during the tool "note": Network connection lost. Whether it took effect is unknown.'
    );
    expect(calls).toEqual(["readFile", "readFile", "writeFile", "call"]);
  });

  it("takes what the parent answered for an answer, not for a loss", async () => {
    let asked = 0;
    const answer = JSON.stringify({ ok: false, code: "tool-failed", message: "ENOENT: no such file" });
    const parent = new ParentBridge(async () =>
      bridge({ file: async () => (asked++, { kind: "answer", answer }) })
    );
    await expect(parent.workspace.stat("/a")).rejects.toMatchObject({
      code: "tool-failed",
      message: "ENOENT: no such file"
    });
    expect(asked).toBe(1);
    const odd = new ParentBridge(async () => bridge({ describe: async () => "{" }));
    await expect(odd.tools()).rejects.toMatchObject({ code: "tool-failed" });
  });

  it("does not call at all once the turn was stopped, and names the call it stops", async () => {
    const stopped: string[] = [];
    const started: string[] = [];
    const { promise, resolve } = Promise.withResolvers<string>();
    const parent = new ParentBridge(async () =>
      bridge({
        call: ({ callId }) => (started.push(callId), promise),
        abort: async (callId) => {
          stopped.push(callId);
          resolve(JSON.stringify({ ok: false, code: "tool-aborted", message: "The call was stopped." }));
        }
      })
    );
    const { note: shared } = await parent.tools();
    const controller = new AbortController();
    const running = shared?.execute?.({}, {
      toolCallId: "1",
      messages: [],
      abortSignal: controller.signal
    } as never);
    await expect.poll(() => started.length).toBe(1);
    controller.abort();
    await expect(running).rejects.toMatchObject({ code: "tool-aborted" });
    expect(stopped).toEqual(started);
    const late = { toolCallId: "2", messages: [], abortSignal: controller.signal } as never;
    await expect(shared?.execute?.({}, late)).rejects.toThrow("aborted");
    expect(started).toHaveLength(1);
  });
});

describe("BridgeLine", () => {
  it("gives up on a parent that does not answer, and disposes a stub that comes too late", async () => {
    const timers: (() => void)[] = [];
    const clock: Clock = {
      now: () => 0,
      setTimer: (callback) => (timers.push(callback), { cancel: () => undefined })
    };
    const stub = bridge();
    const opening = Promise.withResolvers<FakeBridge>();
    let worked = false;
    const line = new BridgeLine(() => opening.promise, clock);
    const use = line.use(async () => void (worked = true), { what: "a test", timeoutMs: 50 });
    timers[0]?.();
    await expect(use).rejects.toMatchObject({ code: "parent-lost" });
    opening.resolve(stub);
    await expect.poll(() => stub.disposed).toBe(1);
    expect(worked).toBe(false);
  });
});
