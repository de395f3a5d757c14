/**
 * One follower per run. Whoever asks for a run that somebody follows already (a recovered turn makes its call again while the base class, since
 * its start, follows the runs that were open) would follow it a second time: its chunks, its last frame and its finish hook would come twice.
 * The base class also gives a silent child up after two minutes, and does not listen to the signal of such a caller. Here he waits until
 * the run is over, and then gets what is stored.
 *
 * I1. A run is never begun by whoever waited for it: one that was cleared meanwhile is gone.
 * I2. The wait ends with the run. How long a child may work is nobody's business here, as for a parent that was never interrupted.
 * I3. A caller that is stopped stops the run, as one that follows it does.
 */
import type { Agent } from "agents";
import { findParentRun } from "../child-runs/parent-run-store";
import type { Clock } from "../shared/clock";
import { errorText } from "../shared/errors/error-text";
import { isRecord } from "../shared/json";
import { CHILD_RUN_LIMITS } from "../shared/limits";
import type { Sql } from "../storage/sql";
import { wrapRunAgentTool } from "./run-agent-tool";

/** What the base class declares as private. */
interface BaseClass {
  /** Set while it follows the runs that were open when it started. */
  readonly _agentToolRunRecoveryPromise?: Promise<void>;
  _asAgentToolChildAdapter(child: unknown): {
    inspectAgentToolRun(runId: string): Promise<{ readonly status: string } | null>;
  };
  _cf_resolveSubAgent(className: string, name: string): Promise<unknown>;
}

interface Waiting {
  readonly runId: string;
  readonly signal?: AbortSignal | undefined;
}

/** A call that follows its run. */
interface Following {
  readonly result: Promise<unknown>;
  readonly signal?: AbortSignal | undefined;
}

const OPEN: ReadonlySet<string> = new Set(["starting", "running"]);
const OVER: ReadonlySet<string> = new Set(["completed", "error", "aborted"]);

type FollowingAgent = Pick<Agent, "runAgentTool" | "cancelAgentTool">;

export function followRunsOnce(
  agent: FollowingAgent,
  { sql, clock }: { readonly sql: Sql; readonly clock: Clock }
): void {
  const following = new Map<string, Following>();
  const runs = new RunWait(agent, sql, clock);

  wrapRunAgentTool(agent, (run) => async (cls, options) => {
    const { runId, signal, detached } = options;
    if (runId === undefined || detached) return run(cls, options);
    const first = following.get(runId);
    const known = { runId, agentType: cls.name };
    if (first) return runs.joined(first, known, signal);
    const follow = async () => {
      if (!findParentRun(sql, runId)) return run(cls, options);
      // Looked at again at once: a run that is not there would be begun.
      if ((await runs.over({ runId, signal })) && findParentRun(sql, runId))
        return runs.stoppable({ runId, signal }, () => run(cls, options));
      return { ...known, status: "aborted", error: "The run was cleared while its result was awaited." };
    };
    const result = follow().finally(() => following.delete(runId));
    following.set(runId, { result, signal });
    return result;
  });
}

/** Waiting for runs that are somebody else's to follow, or nobody's. */
class RunWait {
  readonly #agent: FollowingAgent;
  readonly #base: BaseClass;
  readonly #sql: Sql;
  readonly #clock: Clock;

  constructor(agent: FollowingAgent, sql: Sql, clock: Clock) {
    this.#agent = agent;
    this.#base = agent as unknown as BaseClass;
    this.#sql = sql;
    this.#clock = clock;
  }

  /** True when the run is over, or its child cannot be reached; false when the run is gone. */
  async over({ runId, signal }: Waiting): Promise<boolean> {
    let failures = 0;
    for (;;) {
      const isStopped = signal?.aborted === true;
      // Each time: the base class swallows it when a child could not be reached.
      if (isStopped) await this.#agent.cancelAgentTool(runId, signal.reason);
      const run = findParentRun(this.#sql, runId);
      if (!run) return false;
      if (OVER.has(run.status)) return true;
      const isFollowed = OPEN.has(run.status) && this.#base._agentToolRunRecoveryPromise !== undefined;
      const answer = isFollowed ? "working" : await this.#ask(run.agent_type, runId);
      if (answer === "over") return true;
      failures = answer === "unreachable" ? failures + 1 : 0;
      if (failures >= CHILD_RUN_LIMITS.unreachableTimes) return true;
      if (!isStopped && signal?.aborted) continue;
      const ms = isFollowed ? CHILD_RUN_LIMITS.followerPollMs : CHILD_RUN_LIMITS.childPollMs;
      await pause(this.#clock, ms, isStopped ? undefined : signal);
    }
  }

  /** Follows a run in the base class, which does not listen to the signal of such a caller. */
  async stoppable<Result>({ runId, signal }: Waiting, follow: () => Promise<Result>): Promise<Result> {
    const stop = () => void this.#agent.cancelAgentTool(runId, signal?.reason);
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted) stop();
    try {
      return await follow();
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  /** The result of a call that follows the run. That it was stopped together with its own turn is no word about this one. */
  async joined(
    first: Following,
    known: { readonly runId: string; readonly agentType: string },
    signal: AbortSignal | undefined
  ): Promise<unknown> {
    const result = await this.stoppable({ runId: known.runId, signal }, () => first.result);
    const isOthers = first.signal !== signal && first.signal?.aborted === true;
    if (!isOthers || !isRecord(result) || result["status"] !== "aborted") return result;
    return { ...known, status: "interrupted", error: "The run was stopped with the turn that had begun it." };
  }

  /** What the child itself says. One that cannot be asked several times is left to the base class, which ends the run. */
  async #ask(className: string, runId: string): Promise<"working" | "over" | "unreachable"> {
    try {
      const child = this.#base._asAgentToolChildAdapter(
        await this.#base._cf_resolveSubAgent(className, runId)
      );
      const run = await child.inspectAgentToolRun(runId);
      return run !== null && OPEN.has(run.status) ? "working" : "over";
    } catch (error) {
      console.warn(
        `[Think] The child of the run ${runId} could not be asked how it stands: ${errorText(error)}`
      );
      return "unreachable";
    }
  }
}

/** Ends early when the signal fires. */
function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      timer.cancel();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = clock.setTimer(end, ms);
    signal?.addEventListener("abort", end, { once: true });
  });
}
