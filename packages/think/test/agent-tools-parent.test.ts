/** Agent-tool runs with the parent of the Agents SDK: tools.md §7.6, issue 7. */
import { crash, gate, hang, runInAgent, streamError, text, toolCall } from "@cloudflare/think/testing";
import { describe, expect, it, vi } from "vitest";
import { newFamily, patient, runFrames } from "./agent-tools-support";

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

  it("is carried on after a crash of parent and child, and ends with the child's answer", async () => {
    const id = callId();
    const held = gate();
    const { connect, rows, stub } = newFamily([[research(id)], "Done.", "Done again."], {
      [id]: [[text("Half"), held, hang()], "way"]
    });
    const client = await connect();
    client.chat("Why?");
    await held.reached;
    await crash(stub());
    await connect();
    await vi.waitFor(
      async () => expect(await rows()).toMatchObject([{ status: "completed", summary: "Half\nway" }]),
      patient
    );
    await runInAgent(stub(), (agent) => agent.finished).then((finished) =>
      expect(finished).toMatchObject([{ status: "completed" }])
    );
  });
});
