/**
 * The parent's side of agent-tool runs is the base class's; what is put right around it, in the order in which the parts wrap each other.
 */
import type { Sql } from "../storage/sql";
import type { Clock, Ids } from "../shared/clock";
import { deleteClearedRuns, type ClearingAgent } from "./cleared-runs";
import { sealFailedStarts, type DelegatingAgent } from "./failed-starts";
import { followRunsOnce } from "./one-follower";
import { keepChildrenSteady } from "./steady-children";

export function installParentRuns(
  agent: DelegatingAgent & ClearingAgent,
  host: { readonly sql: Sql; readonly clock: Clock; readonly ids: Ids }
): void {
  keepChildrenSteady(agent, host.sql);
  sealFailedStarts(agent, host);
  followRunsOnce(agent, host);
  deleteClearedRuns(agent, host.sql);
}
