/** The lead's runs as the page draws them, from `agent-tool-event` frames. Pure, except for the one hook that listens. */
import type { AgentConnection } from "@cloudflare/think-example-kit/page";
import type { AgentToolRunState } from "agents";
import { useAgentToolEvents } from "agents/react";
import { type DynamicToolUIPart, getToolName, isToolUIPart, type ToolUIPart, type UIMessage } from "ai";
import { useEffect } from "react";
import { RESEARCH_TOOL, RUNS_CLEARED } from "../shared/run-names";

export type Run = AgentToolRunState<UIMessage["parts"][number]>;
export type ToolPart = ToolUIPart | DynamicToolUIPart;

/** A run that is shown in the panel. */
export interface OpenRun {
  readonly chatId: string;
  readonly runId: string;
  /** Class of the researcher, as its address names it. */
  readonly agent: string;
  readonly topic: string;
}

export type RunPhase = "starting" | "running" | "completed" | "aborted" | "error" | "interrupted" | "removed";

export interface Runs {
  readonly all: readonly Run[];
  /** The run that a tool call started, while it is retained. */
  readonly of: (part: ToolPart) => Run | undefined;
  readonly clear: () => Promise<void>;
  readonly stop: (runId: string) => Promise<void>;
}

/** Follows the runs of a lead. `onCleared` is called when they were removed, here or in another tab. */
export function useRuns(connection: AgentConnection, onCleared: () => void): Runs {
  const events = useAgentToolEvents<UIMessage["parts"][number]>({ agent: connection });
  const { resetLocalState } = events;

  useEffect(() => {
    const listen = (event: MessageEvent): void => {
      if (typeof event.data !== "string" || !event.data.includes(`"${RUNS_CLEARED}"`)) return;
      resetLocalState();
      onCleared();
    };
    connection.addEventListener("message", listen);
    return () => connection.removeEventListener("message", listen);
  }, [connection, onCleared, resetLocalState]);

  return {
    all: Object.values(events.runsById),
    of: (part) => events.getRunsForToolCall(part.toolCallId)[0],
    clear: async () => void (await connection.call("clearRuns")),
    stop: async (runId) => void (await connection.call("stopRun", [runId]))
  };
}

export function isResearch(part: ToolPart): boolean {
  return getToolName(part) === RESEARCH_TOOL;
}

export function topicOf(part: ToolPart): string {
  const { input } = part;
  if (typeof input !== "object" || input === null || !("topic" in input)) return "…";
  return String(input.topic);
}

/** A topic as a heading. */
export function titled(topic: string): string {
  return topic.charAt(0).toUpperCase() + topic.slice(1);
}

export function phaseOf(part: ToolPart, run: Run | undefined): RunPhase {
  if (run !== undefined) return run.status;
  return part.state === "output-available" || part.state === "output-error" ? "removed" : "starting";
}

/** Everything the researcher has said so far. */
export function spokenIn(run: Run | undefined): string {
  return (run?.parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("\n\n");
}

export interface Step {
  readonly id: string;
  readonly tool: string;
  readonly done: boolean;
}

/** The tools the researcher has used, in order. */
export function stepsOf(run: Run | undefined): readonly Step[] {
  return (run?.parts ?? []).filter(isToolUIPart).map((part) => ({
    id: part.toolCallId,
    tool: getToolName(part),
    done: part.state === "output-available"
  }));
}

/** What is left to read when the run itself is gone: the answer in the lead's own message. */
export function keptAnswer(part: ToolPart): string {
  return part.state === "output-available" && typeof part.output === "string" ? part.output : "";
}
