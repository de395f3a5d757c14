/**
 * A run that is still open when its parent starts is followed by the base class. Whoever asks for the same run meanwhile (a recovered turn
 * makes its call again) would follow it a second time: its chunks, its last frame and its finish hook would come twice. Here the second
 * waits until the first is through, and then gets what is stored.
 *
 * I1. The wait ends with the run, with the base class's own recovery (which is bounded), or with the caller's signal.
 * I2. A caller that is stopped stops the run, as one that follows it would.
 */
import type { Agent } from "agents";
import { isParentRunOpen } from "../child-runs/parent-run-store";
import type { Clock } from "../shared/clock";
import { errorText } from "../shared/errors/error-text";
import { CHILD_RUN_LIMITS } from "../shared/limits";
import type { Sql } from "../storage/sql";
import { wrapRunAgentTool } from "./run-agent-tool";

/** A member that the base class declares as private: set while it follows the runs that were open when it started. */
interface Recovering {
  readonly _agentToolRunRecoveryPromise?: Promise<void>;
}

export function followRunsOnce(
  agent: Pick<Agent, "runAgentTool" | "cancelAgentTool">,
  { sql, clock }: { readonly sql: Sql; readonly clock: Clock }
): void {
  const isFollowed = (runId: string) =>
    (agent as Recovering)._agentToolRunRecoveryPromise !== undefined && isParentRunOpen(sql, runId);

  wrapRunAgentTool(agent, (run) => async (cls, options) => {
    const { runId, signal, detached } = options;
    if (runId === undefined || detached) return run(cls, options);
    while (isFollowed(runId)) {
      if (signal?.aborted) {
        await agent.cancelAgentTool(runId, signal.reason);
        return { runId, agentType: cls.name, status: "aborted", error: errorText(signal.reason) };
      }
      await pause(clock, signal);
    }
    return run(cls, options);
  });
}

/** Ends early when the signal fires. */
function pause(clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      timer.cancel();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = clock.setTimer(end, CHILD_RUN_LIMITS.followerPollMs);
    signal?.addEventListener("abort", end, { once: true });
  });
}
