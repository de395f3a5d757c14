// Adds up test results. Pure.

/**
 * @typedef {object} Tally
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped Skipped, pending or to-do tests; the rules allow none.
 */

/** @type {Tally} */
export const none = { passed: 0, failed: 0, skipped: 0 };

/**
 * Reads vitest's JSON report. A file that failed to load has no tests, but it is a failure all the same.
 *
 * @param {unknown} report
 * @returns {Tally}
 */
export function tallyOf(report) {
  if (typeof report !== "object" || report === null) return none;
  /** @param {string} key */
  const count = (key) => {
    const value = Object.entries(report).find(([name]) => name === key)?.[1];
    return typeof value === "number" ? value : 0;
  };
  const files = "testResults" in report && Array.isArray(report.testResults) ? report.testResults : [];
  const broken = files.filter(
    (file) => file.status === "failed" && file.assertionResults.length === 0
  ).length;
  return {
    passed: count("numPassedTests"),
    failed: count("numFailedTests") + broken,
    skipped: count("numPendingTests") + count("numTodoTests")
  };
}

/**
 * What a step adds to the sum: its tests, and one failure if it failed without a failed test to show for it.
 *
 * @param {boolean} ok
 * @param {Tally} tally
 * @returns {Tally}
 */
export function stepTally(ok, tally) {
  return !ok && tally.failed === 0 ? { ...tally, failed: 1 } : tally;
}

/**
 * @param {readonly Tally[]} tallies
 * @returns {Tally}
 */
export function sum(tallies) {
  return tallies.reduce(
    (total, one) => ({
      passed: total.passed + one.passed,
      failed: total.failed + one.failed,
      skipped: total.skipped + one.skipped
    }),
    none
  );
}
