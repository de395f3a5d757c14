import { describe, expect, it } from "vitest";
import { none, stepTally, sum, tallyOf } from "./tally.mjs";

describe("the tally of a test report", () => {
  it("counts passed, failed and skipped tests", () => {
    const report = {
      numPassedTests: 5,
      numFailedTests: 2,
      numPendingTests: 1,
      numTodoTests: 1,
      testResults: []
    };
    expect(tallyOf(report)).toEqual({ passed: 5, failed: 2, skipped: 2 });
  });

  it("counts a file that failed to load as one failure", () => {
    const report = {
      numPassedTests: 1,
      numFailedTests: 0,
      testResults: [
        { status: "failed", assertionResults: [] },
        { status: "passed", assertionResults: [{}] }
      ]
    };
    expect(tallyOf(report).failed).toBe(1);
  });

  it("is empty for something that is no report", () => {
    expect(tallyOf(null)).toEqual(none);
    expect(tallyOf({ numPassedTests: "many" })).toEqual(none);
  });
});

describe("the sum", () => {
  it("shows a failed step as a failure even when it ran no test", () => {
    expect(stepTally(false, none).failed).toBe(1);
    expect(stepTally(false, { passed: 3, failed: 2, skipped: 0 }).failed).toBe(2);
    expect(stepTally(true, none)).toEqual(none);
  });

  it("adds all steps", () => {
    const one = { passed: 1, failed: 2, skipped: 3 };
    expect(sum([one, one, none])).toEqual({ passed: 2, failed: 4, skipped: 6 });
  });
});
