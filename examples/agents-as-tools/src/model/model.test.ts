/** What the lead and the researchers decide, step by step. */
import type { Situation } from "@cloudflare/think-example-kit/model";
import { describe, expect, it } from "vitest";
import { LIBRARY, TOPICS } from "../library";
import { planLead } from "./lead";
import { planResearcher } from "./researcher";
import { fileName, topicsIn } from "./topics";

const situation = (request: string, results: Situation["results"] = []): Situation => ({
  ...{ request, results, alreadySaid: "", tools: new Set(["research", "find", "read", "write"]) }
});
const result = (toolName: string, output: unknown) => ({ toolName, output, failed: false });

describe("topics", () => {
  it.each([
    ["research tides and lighthouses", ["tides", "lighthouses"]],
    ["Compare honeybees with sourdough!", ["honeybees", "sourdough"]],
    ["find out about northern lights", ["northern lights"]],
    ["research knots and submarines", ["knots", "submarines"]],
    ["a lighthouse, please", ["lighthouses"]],
    ["research tides, knots and bees", ["tides", "knots"]],
    ["research tides and the tides", ["tides"]],
    ["hello", []]
  ])("of %s", (request, topics) => {
    expect(topicsIn(request)).toEqual(topics);
  });

  it("each have a text in the library", () => {
    expect(Object.keys(LIBRARY)).toEqual(TOPICS.map((topic) => `/library/${fileName(topic)}.md`));
  });
});

describe("the lead", () => {
  it("sends both researchers in one step", () => {
    const calls = planLead(situation("research tides and knots")).filter(({ type }) => type === "tool-call");
    expect(calls).toHaveLength(2);
  });

  it("puts their answers together, and says who gave none", () => {
    const aborted = { ok: false, status: "aborted", error: "stopped", retryable: false };
    const results = [result("research", "- wet"), result("research", aborted)];
    const [said] = planLead(situation("research tides and knots", results));
    expect(said).toMatchObject({
      text: "## Tides\n\n- wet\n\n## Knots\n\n*No answer: the researcher was stopped.*"
    });
  });

  it("explains itself when no topic is named", () => {
    expect(planLead(situation("hello"))).toMatchObject([{ type: "text" }]);
  });
});

describe("a researcher", () => {
  it("finds, reads, writes and sums up", () => {
    const steps: string[] = [];
    const results = [
      result("find", { files: ["/library/tides.md"] }),
      result("read", { content: "1\t# Tides\n2\t\n3\tThe sea rises. It falls." }),
      result("write", { bytes: 10 })
    ];
    for (let done = 0; done <= results.length; done++) {
      const last = planResearcher(situation("Research: tides", results.slice(0, done))).at(-1);
      steps.push(last?.type === "tool-call" ? last.call.toolName : last?.type === "text" ? last.text : "");
    }
    expect(steps).toEqual(["find", "read", "write", "- The sea rises."]);
  });

  it("does not make anything up", () => {
    const [said] = planResearcher(situation("Research: submarines", [result("find", { files: [] })]));
    expect(said).toMatchObject({ text: expect.stringContaining("nothing on **submarines**") });
  });
});
