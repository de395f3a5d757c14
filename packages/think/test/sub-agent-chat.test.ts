/** `chat()` as a sub-agent, over RPC: turns.md §5.6 and §8.1, issue 7, performance row 12. */
import { env } from "cloudflare:workers";
import {
  crash,
  gate,
  hang,
  runInAgent,
  scriptedModel,
  streamError,
  text,
  type Script
} from "@cloudflare/think/testing";
import { describe, expect, it, vi } from "vitest";
import { patient } from "./agent-tools-support";
import { openCaller, openChild, openParent, type ChildLab } from "./worker/agent-tools-agents";
import { silencesIn } from "./worker/stall-limit";

let counter = 0;

function newTalk(script: Script, lab: Partial<ChildLab> = {}) {
  const parent = `caller-${(counter += 1)}-${crypto.randomUUID()}`;
  const child = `callee-${parent}`;
  const model = scriptedModel(script);
  openParent(parent, scriptedModel([]));
  openChild(child, { model, silences: silencesIn(script), ...lab });
  const caller = openCaller(parent);
  const stub = () => env.ToolParent.getByName(parent);
  return {
    ...{ caller, model, child, stub },
    talk: (kind: "child" | "other" = "child", members: "all" | "few" = "all") =>
      void stub()
        .talkTo(child, kind, members)
        .catch(() => undefined),
    /** Waits for what `chat()` gave its caller. */
    result: () =>
      vi.waitFor(() => {
        expect(caller.result).toBeDefined();
        return caller.result;
      }, patient),
    saw: (part: string) => vi.waitFor(() => expect(caller.text).toContain(part), patient)
  };
}

const words = (count: number) => text(Array.from({ length: count }, () => "word "));

describe("chat() of a child", () => {
  it("§5.6: tells its caller the start, every chunk in order, and the end once it is stored", async () => {
    const { talk, result, caller } = newTalk([text(["It ", "is ", "blue."])]);
    talk();
    expect(await result()).toBe("resolved");
    expect(caller.text).toBe("It is blue.");
    expect(caller.calls).toEqual(["start", "done"]);
  });

  it("§5.6: tells a failure once, and resolves", async () => {
    const { talk, result, caller } = newTalk([[text("Half"), streamError("provider down")]]);
    talk();
    expect(await result()).toBe("resolved");
    expect(caller.calls).toEqual(["start", "error: provider down"]);
  });

  it("§5.6: tells an interruption once, and neither done nor error", async () => {
    const { talk, result, caller, model } = newTalk([[text("Half"), hang()], "way"], { stallMs: 300 });
    talk();
    expect(await result()).toBe("resolved");
    expect(caller.calls).toEqual(["start", "interrupted"]);
    await vi.waitFor(() => expect(model.calls).toHaveLength(2), patient);
  });

  it("§8.2: is stopped by the id that onStart told, without a further call", async () => {
    const { talk, result, caller, stub, child, saw } = newTalk([[text("Half"), hang()]]);
    talk();
    await saw("Half");
    await stub().stopTalking(child, caller.requestId ?? "");
    expect(await result()).toBe("resolved");
    expect(caller.calls).toEqual(["start"]);
  });

  it("§8.1: tolerates members that the other side of an RPC session does not have", async () => {
    const { talk, result, caller } = newTalk([words(200)]);
    talk("child", "few");
    expect(await result()).toBe("resolved");
    expect(caller.calls).toEqual(["done"]);
  });

  it("row 12: does not wait for each event; at most 16 are unanswered, and what follows is merged, in order", async () => {
    const { talk, result, caller } = newTalk([words(2_000)]);
    caller.isHolding = true;
    talk();
    await vi.waitFor(() => expect(caller.unanswered).toBe(16), patient);
    expect(caller.text.length).toBeLessThan(16 * 5);
    caller.isHolding = false;
    expect(await result()).toBe("resolved");
    expect(caller.mostUnanswered).toBe(16);
    expect(caller.text).toBe("word ".repeat(2_000));
    expect(caller.events).toBeLessThan(2_000);
  });

  it("a caller that dies is left behind: the turn goes on and is stored", async () => {
    const held = gate();
    const { talk, stub, child, saw } = newTalk([[text("Half"), held, text("way")]]);
    talk("other");
    await saw("Half");
    await crash(stub());
    held.open();
    const agent = env.ToolChild.getByName(child);
    await vi.waitFor(
      async () =>
        expect(JSON.stringify(await runInAgent(agent, ({ messages }) => messages))).toContain("way"),
      patient
    );
  });

  it("a caller that dies with its child loses the stream, and recovery finishes the answer", async () => {
    const { talk, stub, child, saw, model } = newTalk([[text("Half"), hang()], "way"]);
    talk();
    await saw("Half");
    await crash(stub());
    const messages = () => runInAgent(stub(), async (agent) => JSON.stringify(await agent.messagesOf(child)));
    await vi.waitFor(async () => expect(await messages()).toContain("way"), patient);
    expect(model.calls).toHaveLength(2);
  });
});
