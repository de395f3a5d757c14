/**
 * An agent-tool run as the child sees it: a parent asked this agent to do something, and wants to follow it and to know how it ended.
 * The shapes of the answers are those that the parents of the Agents SDK expect.
 */

/** A run that is `completed`, `error` or `aborted` never changes again. `interrupted` is a word of parents. */
export type ChildRunStatus = "starting" | "running" | ChildRunEnd["status"];

/** How a run ended. */
export type ChildRunEnd =
  | { readonly status: "completed" }
  | { readonly status: "error"; readonly error: string }
  | { readonly status: "aborted"; readonly error?: string | undefined };

/** What `inspectAgentToolRun()` tells. */
export interface AgentToolRunInspection {
  readonly runId: string;
  readonly status: ChildRunStatus;
  /** The request of the turn that runs or ran last for it. */
  readonly requestId?: string;
  readonly streamId?: string;
  /** What `getAgentToolOutput()` gave. */
  readonly output?: unknown;
  readonly summary?: string;
  /** Why it failed, or why it was cancelled. */
  readonly error?: string;
  /** In ms. */
  readonly startedAt: number;
  /** In ms. */
  readonly completedAt?: number;
}

/** One UI message chunk of a run. */
export interface AgentToolStoredChunk {
  /** Its place among the run's chunks. Places grow; after a crash of the child some are left out. */
  readonly sequence: number;
  /** The chunk as JSON text. */
  readonly body: string;
}

/** The stored facts of a run. */
export interface ChildRun {
  readonly runId: string;
  readonly status: ChildRunStatus;
  readonly requestId: string | null;
  readonly streamId: string | null;
  /** What the parent asked for, as JSON, until the run has a turn. */
  readonly inputJson: string | null;
  /** The message that asks for the run. */
  readonly inputId: string | null;
  /** The place of the first chunk of the stream `streamId`. */
  readonly firstSequence: number;
  /** Whether the chunks of that stream were moved to the archive. */
  readonly isArchived: boolean;
  readonly summary: string | null;
  readonly outputJson: string | null;
  readonly error: string | null;
  readonly startedAt: number;
  readonly completedAt: number | null;
}

const OWNER = "agent-tool-run:";

/** The owner under which the turns of a run are known: the first one and those that carry it on after an interruption. */
export function ownerOf(runId: string): string {
  return `${OWNER}${runId}`;
}

/** The run whose turn this is; undefined for every other turn. */
export function runOfOwner(ownerId: string | undefined): string | undefined {
  return ownerId?.startsWith(OWNER) ? ownerId.slice(OWNER.length) : undefined;
}

export function isOpen({ completedAt }: ChildRun): boolean {
  return completedAt === null;
}
