/** Agent-tool runs whose child crashes while the parent lives: tools.md §7.5, §7.6 and §9 row 14, issue 7. A crash of both is in agent-tools-parent. */
import { gate, hang, runInAgent, text, toolCall } from "@cloudflare/think/testing";
import { describe, expect, it, vi } from "vitest";
import { newFamily, patient, runFrames } from "./agent-tools-support";

/** A call id that no other test uses: it names the child. */
const callId = () => `call-${crypto.randomUUID()}`;

const research = (id: string) => toolCall("research", { query: "sky" }, { id });

const ends = new Set(["finished", "error", "aborted", "interrupted"]);

describe("a restart of the child alone", () => {
  it("§9 row 14: is a delayed completion for the parent that waits: row, tool result, hook and frames", async () => {
    const id = callId();
    const held = gate();
    const { connect, rows, stub, model } = newFamily([[research(id)], "Done."], {
      [id]: [[text("Half"), held, hang()], "way"]
    });
    const client = await connect();
    const turn = client.chat("Why?");
    await held.reached;
    await runInAgent(stub(), (agent) => agent.crashChild(`agent-tool:${id}`));
    expect((await turn.done).text).toBe("Done.");
    expect(await rows()).toMatchObject([{ status: "completed", summary: "Half\nway", error_message: null }]);
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain("Half\\nway");
    expect(await runInAgent(stub(), (agent) => agent.finished)).toMatchObject([{ status: "completed" }]);
    const frames = runFrames(client);
    expect(frames.map(({ sequence }) => sequence)).toEqual(frames.map((_, index) => index));
    expect(frames.filter(({ event }) => ends.has(event.kind)).map(({ event }) => event.kind)).toEqual([
      "finished"
    ]);
  });

  it("§7.5: with recovery off is an error that says so, not a wait without end", async () => {
    const id = callId();
    const held = gate();
    const { connect, rows, stub } = newFamily([[research(id)], "Done."], {
      [id]: { script: [[text("Half"), held, hang()]], chatRecovery: false }
    });
    const turn = (await connect()).chat("Why?");
    await held.reached;
    await runInAgent(stub(), (agent) => agent.crashChild(`agent-tool:${id}`));
    expect((await turn.done).text).toBe("Done.");
    const error_message = expect.stringContaining("interrupted before the child could finish");
    expect(await rows()).toMatchObject([{ status: "error", error_message }]);
  });

  it("§7.5: does not keep the browser's stop from reaching the child", async () => {
    const id = callId();
    const [held, again] = [gate(), gate()];
    const { connect, rows, stub, children } = newFamily([[research(id)], "never"], {
      [id]: [
        [text("Half"), held, hang()],
        [text("way"), again, hang()]
      ]
    });
    const turn = (await connect()).chat("Why?");
    await held.reached;
    await runInAgent(stub(), (agent) => agent.crashChild(`agent-tool:${id}`));
    await again.reached;
    turn.cancel();
    await turn.done;
    await vi.waitFor(async () => expect(await rows()).toMatchObject([{ status: "aborted" }]), patient);
    await vi.waitFor(() => expect(children.get(id)?.calls[1]?.status).toBe("aborted"), patient);
  });
});
