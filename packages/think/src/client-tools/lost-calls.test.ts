import type { UIMessage } from "ai";
import { describe, expect, it, vi } from "vitest";
import { LostCalls, type LostCallsHost } from "./lost-calls";

const call = (name: string, state = "input-available") => ({
  ...{ type: `tool-${name}`, toolCallId: `${name}-1`, state, input: {} }
});

const answer = (...parts: object[]) => ({ id: "a1", role: "assistant", parts }) as UIMessage;

/** Somebody answers; returns the calls that were settled, after all that may follow. */
async function settledBy(messages: readonly UIMessage[], host: Partial<LostCallsHost> = {}) {
  const settled: string[] = [];
  const goesOn = vi.fn<() => void>();
  new LostCalls({
    messages: () => messages,
    isBusy: () => false,
    toolsOfClients: () => Promise.resolve(new Set(["point"])),
    isClients: (name) => name === "ask",
    wasHandedOver: (id) => id === "research-1",
    repair: (ids) => void settled.push(...ids),
    settled: goesOn,
    ...host
  }).look();
  await new Promise((resolve) => setTimeout(resolve));
  expect(goesOn).toHaveBeenCalledTimes(settled.length > 0 ? 1 : 0);
  return settled;
}

describe("when somebody has answered", () => {
  it("the latest answer's open calls of server tools are settled, and what waited goes on", async () => {
    const messages = [answer(call("ask", "output-available"), call("add"))];
    expect(await settledBy(messages)).toEqual(["add-1"]);
  });

  it.each([
    ["a client's tool", call("ask")],
    ["a tool of the agent that clients execute", call("point")],
    ["an agent that goes on with it", call("research")],
    ["somebody who is asked for approval", call("add", "approval-requested")],
    ["an outcome that is there", call("add", "output-error")]
  ])("a call that has %s is left alone", async (_who, part) => {
    expect(await settledBy([answer(part)])).toEqual([]);
  });

  it("a call of a tool that is not there any more is settled", async () => {
    expect(await settledBy([answer(call("gone"))])).toEqual(["gone-1"]);
  });

  it("calls of earlier answers are left to the next turn", async () => {
    expect(await settledBy([answer(call("add")), answer(call("ask"))])).toEqual([]);
  });

  it("a turn that runs or waits keeps its calls, also one that came while the author was asked for the tools", async () => {
    expect(await settledBy([answer(call("add"))], { isBusy: () => true })).toEqual([]);
    let looks = 0;
    expect(await settledBy([answer(call("add"))], { isBusy: () => (looks += 1) > 1 })).toEqual([]);
  });

  it("an author whose tools cannot be had is reported, and nothing is settled", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    const toolsOfClients = () => Promise.reject(new Error("no tools today"));
    expect(await settledBy([answer(call("add"))], { toolsOfClients })).toEqual([]);
    expect(log).toHaveBeenCalledWith(expect.stringContaining("no tools today"), expect.anything());
    log.mockRestore();
  });
});
