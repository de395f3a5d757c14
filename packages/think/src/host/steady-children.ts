/**
 * A child that crashes while its parent waits. The base class ends such a run as an error when its tail breaks, although the child comes back and carries the run on
 * (tools.md §9 row 14). Here the adapter through which the base class talks to a child finds the child again after a failure, so that the parent sees a delayed completion.
 *
 * I1. A tail that breaks is followed anew after the last whole line that was passed on, only while the child says that the run is open.
 * I2. Tails that break one after the other without a line between them are bounded; then the error goes to the base class, as without this file.
 * I3. `startAgentToolRun` is not repeated: a child that cannot start is a failed start (`failed-starts.ts`).
 */
import type { AgentToolRunInspection } from "../child-runs/child-run";
import { findParentRun } from "../child-runs/parent-run-store";
import { CHILD_RUN_LIMITS } from "../shared/limits";
import { isRecord, parseStored } from "../shared/json";
import type { Sql } from "../storage/sql";

interface Place {
  readonly afterSequence?: number;
}

/** A child as the base class uses it. */
interface Child {
  startAgentToolRun(input: unknown, options: unknown): Promise<AgentToolRunInspection>;
  cancelAgentToolRun(runId: string, reason?: unknown): Promise<void>;
  inspectAgentToolRun(runId: string, options?: unknown): Promise<AgentToolRunInspection | null>;
  getAgentToolChunks(runId: string, options?: Place): Promise<unknown>;
  tailAgentToolRun(runId: string, options?: Place): Promise<ReadableStream<Uint8Array>>;
}

/** Two members that the base class declares as private. */
interface BaseClass {
  _asAgentToolChildAdapter(child: unknown): Child;
  _cf_resolveSubAgent(className: string, name: string): Promise<unknown>;
}

export function keepChildrenSteady(agent: object, sql: Sql): void {
  const base = agent as BaseClass;
  // A release of the base class without them has its own way, and the agent must still start.
  if (typeof base._asAgentToolChildAdapter !== "function") return;
  const adapt = base._asAgentToolChildAdapter.bind(agent);
  const find = async (runId: string) => {
    const run = findParentRun(sql, runId);
    return run && adapt(await base._cf_resolveSubAgent(run.agent_type, runId));
  };
  base._asAgentToolChildAdapter = (child) => {
    const adapter = adapt(child);
    // A child of another kind may have no tail; the base class looks whether there is one.
    return typeof adapter.tailAgentToolRun === "function" ? steadyChild(adapter, find) : adapter;
  };
}

function steadyChild(first: Child, find: (runId: string) => Promise<Child | undefined>): Child {
  let current = first;
  /** Once more with the child that is there now. Only for what may be asked twice. */
  const ask = async <Answer>(runId: string, question: (child: Child) => Promise<Answer>): Promise<Answer> => {
    try {
      return await question(current);
    } catch (error) {
      const found = await find(runId);
      if (!found) throw error;
      current = found;
      return question(current);
    }
  };
  const steady: Child = {
    startAgentToolRun: (input, options) => current.startAgentToolRun(input, options),
    cancelAgentToolRun: (runId, reason) => ask(runId, (child) => child.cancelAgentToolRun(runId, reason)),
    inspectAgentToolRun: (runId, options) => ask(runId, (child) => child.inspectAgentToolRun(runId, options)),
    getAgentToolChunks: (runId, place) => ask(runId, (child) => child.getAgentToolChunks(runId, place)),
    tailAgentToolRun: async (runId, place) => {
      const open = (afterSequence: number) =>
        ask(runId, (child) => child.tailAgentToolRun(runId, { afterSequence }));
      const isOpen = async () => {
        const run = await steady.inspectAgentToolRun(runId);
        return run?.status === "running" || run?.status === "starting";
      };
      const after = place?.afterSequence ?? -1;
      return steadyTail({ open, isOpen }, await open(after), after);
    }
  };
  return steady;
}

interface TailedRun {
  open(afterSequence: number): Promise<ReadableStream<Uint8Array>>;
  isOpen(): Promise<boolean>;
}

/** Whole lines of one tail after the other, until the run is over. */
function steadyTail(
  run: TailedRun,
  first: ReadableStream<Uint8Array>,
  afterSequence: number
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let reader = first.getReader();
  let decoder = new TextDecoder();
  let rest = "";
  let last = afterSequence;
  let failures = 0;

  const reopen = async (error: unknown): Promise<boolean> => {
    failures += 1;
    if (failures > CHILD_RUN_LIMITS.brokenTails) throw error;
    if (!(await run.isOpen())) return false;
    reader = (await run.open(last)).getReader();
    decoder = new TextDecoder();
    rest = "";
    return true;
  };
  const read = async () => {
    try {
      return await reader.read();
    } catch (error) {
      return { error };
    }
  };

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const news = await read();
          if ("error" in news) {
            if (await reopen(news.error)) continue;
            return controller.close();
          }
          if (news.done) {
            if (rest !== "") controller.enqueue(encoder.encode(rest));
            return controller.close();
          }
          const text = rest + decoder.decode(news.value, { stream: true });
          const end = text.lastIndexOf("\n") + 1;
          rest = text.slice(end);
          if (end === 0) continue;
          const lines = text.slice(0, end);
          last = lastPlace(lines) ?? last;
          failures = 0;
          return controller.enqueue(encoder.encode(lines));
        }
      },
      cancel: (reason) => reader.cancel(reason)
    },
    { highWaterMark: 0 }
  );
}

/** The place of the last of these lines. */
function lastPlace(lines: string): number | undefined {
  const line = parseStored(lines.slice(lines.lastIndexOf("\n", lines.length - 2) + 1));
  return isRecord(line) && typeof line["sequence"] === "number" ? line["sequence"] : undefined;
}
