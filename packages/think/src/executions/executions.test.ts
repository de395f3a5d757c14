/** Decisions about executions while the conversation changes around them. */
import type { UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import { fakeClock } from "../testing/fake-clock";
import { Executions } from "./executions";

/** An agent whose conversation does not hold the call any more, and whose runtime answers when it is told to. */
function world() {
  const answered = Promise.withResolvers<unknown>();
  const told: string[] = [];
  let generation = 0;
  const executions = new Executions({
    ids: fakeClock().ids,
    runtime: () => ({
      pending: async () => [],
      approve: () => answered.promise,
      reject: async () => true
    }),
    live: () => undefined,
    newestFirst: () => [],
    replace: () => false,
    append: ({ role }: UIMessage) => void told.push(role),
    generation: () => generation,
    carryOn: () => void told.push("carried on")
  });
  return { executions, told, answered, clear: () => void (generation += 1) };
}

const COMPLETED = { status: "completed", executionId: "x", result: 1 };

describe("§3.4.6 the outcome of an execution whose call is not in the conversation", () => {
  it("is told as a message, and the model goes on", async () => {
    const { executions, told, answered } = world();
    answered.resolve(COMPLETED);
    expect(await executions.approve("x", null)).toMatchObject({ status: "completed" });
    expect(told).toEqual(["system", "carried on"]);
  });

  it("is not told in the next conversation when the old one was cleared meanwhile", async () => {
    const { executions, told, answered, clear } = world();
    const approved = executions.approve("x", null);
    clear();
    answered.resolve(COMPLETED);
    expect(await approved).toMatchObject({ status: "completed" });
    expect(told).toEqual([]);
  });
});
