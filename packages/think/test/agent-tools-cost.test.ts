/** What agent-tool runs cost: rows 5 and 11 of `performance.md`, counted in every object that takes part. */
import {
  countAllRows,
  runInAgent,
  scriptedModel,
  text,
  toolCall,
  type RowCounts
} from "@cloudflare/think/testing";
import { describe, expect, it } from "vitest";
import { newFamily } from "./agent-tools-support";
import { standingClock } from "./time-support";
import { openChild } from "./worker/agent-tools-agents";

const words = (count: number) => text(Array.from({ length: count }, () => "word "));

/** Everything but what the base class writes into its own tables. */
function beyond(base: RowCounts, all: RowCounts): number {
  return all.totalWritten - base.totalWritten;
}

describe("rows", () => {
  it("row 5: of a new child, beyond the base class's, are few", async () => {
    const { stub } = newFamily([], {});
    const made = (kind: "ToolChild" | "PlainChild") => {
      const name = `cheap-${crypto.randomUUID()}`;
      openChild(name, { model: scriptedModel([]) });
      return countAllRows(stub(), () => runInAgent(stub(), (agent) => agent.makeChild(name, kind)));
    };
    await made("PlainChild");
    expect(beyond(await made("PlainChild"), await made("ToolChild"))).toBeLessThanOrEqual(10);
  });

  it("row 11: of a run of 1,000 deltas, parent and child together, are at most 40", async () => {
    using _time = standingClock();
    const [warm, measured] = [`call-${crypto.randomUUID()}`, `call-${crypto.randomUUID()}`];
    const research = (id: string) => toolCall("research", { query: "sky" }, { id });
    const { connect, stub } = newFamily([[research(warm)], "Done.", [research(measured)], "Done."], {
      [warm]: ["warm up"],
      [measured]: [words(1_000)]
    });
    const client = await connect();
    await client.chat("Hi").done;
    const base = await countAllRows(stub(), () =>
      runInAgent(stub(), (agent) => agent.makeChild(`plain-${crypto.randomUUID()}`, "PlainChild"))
    );
    const all = await countAllRows(stub(), () => client.chat("Why?").done);
    expect(beyond(base, all)).toBeLessThanOrEqual(40);
  });
});
