/**
 * What the modules need from the platform, as one small interface. Only this folder knows the Agent class; everything else
 * can be built and tested without it.
 */
import type { Emit } from "../observability/events";
import type { Clock, Ids } from "../shared/clock";
import type { KeyValue } from "../recovery/incident-store";
import type { RecoverySchedule } from "../recovery/recovery-types";
import type { Sql } from "../storage/sql";

export interface Host {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Sends an event to the agent's observability sink. */
  readonly emit: Emit;
  /** Sends to one connection; false when it is gone. */
  send(connectionId: string, frame: string): boolean;
  /** Sends to every connection of this agent except those named. */
  broadcast(frame: string, without: readonly string[]): void;
  /** A connection came or went. */
  connectionsChanged(): void;
  /** Whether anybody is connected. */
  hasConnections(): boolean;
  /** The key-value side of the object's storage. */
  readonly kv: KeyValue;
  readonly schedules: RecoverySchedule;
  /** Whether the platform lost the object in mid-air; the same call may succeed when repeated. */
  isTransient(error: unknown): boolean;
  /** Keeps the object alive until the returned function is called. */
  keepAlive(): Promise<() => void>;
}
