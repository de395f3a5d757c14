/** Names that the Worker and the page must agree on. */

/** The tool of the lead that starts a researcher. */
export const RESEARCH_TOOL = "research";

/** Sent to every page when the retained runs were removed. */
export const RUNS_CLEARED = "runs-cleared";
