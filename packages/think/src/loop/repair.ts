/**
 * Repairs the stored conversation: applies the rules of `repair-transcript.ts`, stores what changed and tells of it.
 */
import type { UIMessage } from "ai";
import type { LoopAgent } from "./loop-agent";
import { repairTranscript, type StoredToolPart } from "./repair-transcript";

export type RepairAgent = Pick<LoopAgent, "repairPart" | "saveSettled" | "emit">;

/** Everything, before a model call. `leave`: calls whose outcome may still come. */
export function repair(
  agent: RepairAgent,
  stored: readonly UIMessage[],
  leave?: ReadonlySet<string>
): readonly UIMessage[] {
  const rule = (part: StoredToolPart) => agent.repairPart(part);
  const repaired = repairTranscript(stored, rule, leave);
  save(agent, repaired);
  const { messages, incomplete } = repaired;
  if (incomplete.length > 0) {
    const list = incomplete.join(", ");
    console.warn(
      `[Think] Tool calls without an outcome are not sent to the model: ${list}. Return a settled part from repairInterruptedToolPart().`
    );
    const report = { removedToolCalls: incomplete.length, normalizedInputs: 0, toolCallIds: incomplete };
    agent.emit("chat:transcript:repaired", report);
  }
  return messages;
}

/** Only these calls. */
export function repairCalls(
  agent: RepairAgent,
  stored: readonly UIMessage[],
  toolCallIds: ReadonlySet<string>
): void {
  const rule = (part: StoredToolPart) => (toolCallIds.has(part.toolCallId) ? agent.repairPart(part) : part);
  save(agent, repairTranscript(stored, rule));
}

function save(agent: RepairAgent, { changed, report }: ReturnType<typeof repairTranscript>): void {
  if (changed.length === 0) return;
  agent.saveSettled(changed);
  agent.emit("chat:transcript:repaired", report);
}
