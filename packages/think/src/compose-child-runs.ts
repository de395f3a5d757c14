/**
 * Builds the child's side of agent-tool runs. It needs turns, recovery and the stores; they reach it through functions.
 */
import { runOfOwner } from "./child-runs/child-run";
import { ChildRuns, type ChildRunsParts } from "./child-runs/child-runs";
import { ChunkArchive } from "./child-runs/chunk-archive";
import { RunStore } from "./child-runs/run-store";
import type { Host } from "./host/host";
import type { Recovery } from "./recovery/recovery";
import { errorText } from "./shared/errors/error-text";
import type { ChatApi } from "./turn/chat-api";
import type { Turns } from "./turn/turns";

export type ChildRunsSetting = Pick<ChildRunsParts, "stream" | "conversation" | "author" | "settleOrphan"> & {
  readonly turns: Turns;
  readonly api: ChatApi;
  readonly recovery: () => Recovery;
};

export function composeChildRuns(
  { sql, clock, ids }: Pick<Host, "sql" | "clock" | "ids">,
  { recovery, turns, api, ...setting }: ChildRunsSetting
): ChildRuns {
  return new ChildRuns({
    ...{ clock, ids, ...setting },
    store: new RunStore(sql),
    archive: new ChunkArchive(sql),
    save: (messages, options) => api.runSaved(messages, options),
    cancel: (requestId) => turns.cancel(requestId),
    generation: () => turns.generation,
    recovery: {
      get isOn() {
        return recovery().isOn;
      },
      get isPending() {
        return recovery().isPending;
      },
      incidentOf: (ownerId) => recovery().incidentOf(ownerId)
    }
  });
}

/** What recovery asks about the owners of turns. */
export function ownersOf(childRuns: () => ChildRuns) {
  return {
    isWanted: (ownerId: string | undefined) => childRuns().isWanted(runOfOwner(ownerId)),
    closed: () =>
      void childRuns()
        .recovered()
        .catch((error: unknown) =>
          console.error(
            `[Think] Agent-tool runs could not be judged after recovery: ${errorText(error)}`,
            error
          )
        )
  };
}
