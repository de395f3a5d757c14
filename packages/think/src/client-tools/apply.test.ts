import type { UIMessage, UIMessageChunk } from "ai";
import { expect, it } from "vitest";
import { toolNameOf } from "../session/parts";
import { MessageAccumulator } from "../stream/accumulator";
import { ToolUpdates } from "./apply";

const message = (id: string, ...calls: (readonly [toolCallId: string, state: string])[]): UIMessage => ({
  id,
  role: "assistant",
  parts: calls.map(([toolCallId, state]) => ({
    type: "tool-look",
    toolCallId,
    state,
    input: {}
  })) as unknown as UIMessage["parts"]
});

function world(options: {
  readonly inMemory?: UIMessage[];
  readonly beyond?: UIMessage;
  readonly orphan?: UIMessage;
  readonly live?: MessageAccumulator;
  readonly serverTools?: readonly string[];
}) {
  const inMemory = [...(options.inMemory ?? [])];
  const log: string[] = [];
  const recorded: UIMessageChunk[] = [];
  const updates = new ToolUpdates({
    live: () => options.live,
    isServers: (part) => options.serverTools?.includes(toolNameOf(part)) ?? false,
    record: (chunk) => void recorded.push(chunk),
    settleOrphan: () => void (options.orphan && inMemory.push(options.orphan)),
    messages: {
      messages: inMemory,
      windowed: options.beyond !== undefined,
      withToolCall: () => options.beyond,
      update: (updated) => {
        log.push(`stored ${updated.id}`);
        return updated;
      }
    },
    broadcast: (updated) => void log.push(`told ${updated.id}`)
  });
  return { updates, log, recorded };
}

const result = { kind: "result", output: 1 } as const;

it("stores first and tells then, once (§7.3)", () => {
  const { updates, log } = world({ inMemory: [message("m", ["a", "input-available"])] });
  expect(updates.apply("a", result)).toBe(true);
  expect(log).toEqual(["stored m", "told m"]);
});

it("does neither when nothing changes (§7.3)", () => {
  const { updates, log } = world({ inMemory: [message("m", ["a", "output-available"])] });
  expect(updates.apply("a", result)).toBe(false);
  expect(updates.apply("b", result)).toBe(false);
  expect(log).toEqual([]);
});

it("finds the call that is still open when a provider has used the id before", () => {
  const { updates, log } = world({
    inMemory: [message("old", ["a", "output-available"]), message("new", ["a", "input-available"])]
  });
  updates.apply("a", result);
  expect(log).toEqual(["stored new", "told new"]);
});

it("finds a call in a message that is not in memory (§6.6)", () => {
  const { updates, log } = world({
    beyond: message("early", ["a", "approval-requested"]),
    inMemory: [message("m")]
  });
  updates.apply("a", { kind: "approval", approved: true });
  expect(log).toEqual(["stored early", "told early"]);
});

it("looks into the stream of a lost isolate when the call is nowhere else", () => {
  const { updates, log } = world({ orphan: message("orphan", ["a", "input-available"]) });
  updates.apply("a", result);
  expect(log).toEqual(["stored orphan", "told orphan"]);
});

it("changes the streaming message instead of a stored one, and records the outcome in the stream (§7.3)", () => {
  const live = new MessageAccumulator("live");
  live.apply({ type: "tool-input-available", toolCallId: "a", toolName: "look", input: {} });
  live.apply({ type: "tool-input-available", toolCallId: "b", toolName: "look", input: {} });
  live.apply({ type: "tool-approval-request", toolCallId: "b", approvalId: "x" });
  const { updates, log, recorded } = world({ live, inMemory: [message("old", ["a", "input-available"])] });
  updates.apply("a", { kind: "failure" });
  updates.apply("b", { kind: "approval", approved: false });
  expect(log).toEqual(["told live", "told live"]);
  expect(recorded).toEqual([
    { type: "tool-output-error", toolCallId: "a", errorText: "Tool execution denied by user" },
    { type: "tool-output-denied", toolCallId: "b" }
  ]);
  expect(live.snapshot().parts).toMatchObject([{ state: "output-error" }, { state: "output-denied" }]);
});

it("takes late outcomes: shows what is preliminary, stores what is final, and only the first of that (§5.4)", () => {
  const stored = [message("m", ["a", "approval-responded"])];
  const late = world({ inMemory: stored });
  late.updates.applyLate({ type: "tool-output-available", toolCallId: "a", output: 1, preliminary: true });
  expect(late.log).toEqual(["told m"]);
  late.updates.applyLate({ type: "tool-output-error", toolCallId: "a", errorText: "x" });
  expect(late.log).toEqual(["told m", "stored m", "told m"]);
  const settled = world({ inMemory: [message("m", ["a", "output-error"])] });
  settled.updates.applyLate({ type: "tool-output-available", toolCallId: "a", output: 1 });
  settled.updates.applyLate({ type: "text-delta", id: "t", delta: "x" });
  expect(settled.log).toEqual([]);
});

it("issue 3, bad input: a call that the server executes is not answered by a client, one that asks for approval is", () => {
  const live = new MessageAccumulator("live");
  live.apply({ type: "tool-input-available", toolCallId: "a", toolName: "look", input: {} });
  live.apply({ type: "tool-input-available", toolCallId: "b", toolName: "look", input: {} });
  live.apply({ type: "tool-approval-request", toolCallId: "b", approvalId: "x" });
  const inMemory = [message("old", ["c", "approval-responded"])];
  const { updates, log } = world({ live, inMemory, serverTools: ["look"] });
  for (const id of ["a", "c"]) {
    expect(updates.apply(id, result)).toBe(false);
    expect(updates.apply(id, { kind: "failure" })).toBe(false);
    expect(updates.apply(id, { kind: "approval", approved: false })).toBe(false);
  }
  expect(log).toEqual([]);
  expect(updates.apply("b", { kind: "approval", approved: true })).toBe(true);
  expect(updates.apply("c", { kind: "late-output", output: 2 })).toBe(true);
});
