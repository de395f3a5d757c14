/**
 * The Host over the Agents SDK base class.
 */
import { isPlatformTransientError, type Agent, type Connection } from "agents";
import type { Emit } from "../observability/events";
import { errorText } from "../shared/errors/error-text";
import { systemClock, systemIds } from "../shared/system";
import type { KeyValue } from "../recovery/incident-store";
import type { Sql } from "../storage/sql";
import type { Host } from "./host";

/** The members of an agent that the host uses; all public. */
export type HostAgent = Pick<
  Agent,
  | "getConnection"
  | "getConnections"
  | "broadcast"
  | "keepAlive"
  | "parentPath"
  | "observability"
  | "name"
  | "schedule"
  | "cancelSchedule"
  | "lifecycle"
>;

export function createAgentHost(agent: HostAgent, storage: DurableObjectStorage): Host {
  // Asking the base class for its connections costs a look into each one's attachment; a broadcast per delta cannot afford that.
  let open: readonly Connection[] | undefined;
  return {
    sql: durableSql(storage),
    clock: systemClock,
    ids: systemIds,
    emit: createEmit(agent),
    send(connectionId, frame) {
      // A client that lost its network comes back with the same id, often before its old socket is found dead. Asked for one connection, the
      // base class throws then; here both get the frame.
      let isSent = false;
      for (const connection of connectionsOf(agent, connectionId))
        isSent = sendIfOpen(connection, frame) || isSent;
      return isSent;
    },
    broadcast(frame, without) {
      // Inside a child the sockets live at the root: one call reaches all of them. At the root a socket that has just closed
      // must not keep the frame from the others, which is what the base class's loop would let happen.
      if (agent.parentPath.length > 0) return agent.broadcast(frame, [...without]);
      open ??= [...agent.getConnections()];
      for (const connection of open) {
        if (without.length > 0 && without.includes(connection.id)) continue;
        if (!sendIfOpen(connection, frame)) open = undefined;
      }
    },
    hasConnections() {
      open ??= [...agent.getConnections()];
      return open.length > 0;
    },
    connectionsChanged() {
      open = undefined;
    },
    kv: durableKeyValue(storage),
    schedules: {
      async schedule(seconds, callback, payload) {
        // The class that has these members is not known here; the schedule calls them by name.
        const { id } = await agent.schedule(seconds, callback as never, payload, { idempotent: false });
        return id;
      },
      async cancel(scheduleId) {
        await agent.cancelSchedule(scheduleId);
      },
      async rearm() {
        // A child's schedules have their alarm at the root.
        if (agent.parentPath.length === 0) await agent.lifecycle.rearmAlarm();
      }
    },
    isTransient: isPlatformTransientError,
    keepAlive: () => agent.keepAlive()
  };
}

function connectionsOf(agent: HostAgent, connectionId: string): readonly Connection[] {
  // Inside a child the sockets live at the root, which knows one per id.
  if (agent.parentPath.length > 0) return [agent.getConnection(connectionId) ?? []].flat();
  return [...agent.getConnections(connectionId)].filter(({ id }) => id === connectionId);
}

function durableKeyValue({ kv }: DurableObjectStorage): KeyValue {
  return {
    get: (key) => kv.get(key),
    put: (key, value) => kv.put(key, value),
    delete: (key) => void kv.delete(key),
    list: (prefix) => [...kv.list({ prefix })]
  };
}

/** Observability must never fail the work it observes. */
function createEmit(agent: HostAgent): Emit {
  return (type, payload) => {
    try {
      const event = { type, agent: agent.constructor.name, name: agent.name, payload, timestamp: Date.now() };
      // The base package lists the events it knows; a sink takes any of this shape.
      agent.observability?.emit(event as never);
    } catch (error) {
      console.error(`[Think] The observability sink failed on ${type}: ${errorText(error)}`);
    }
  };
}

function sendIfOpen(connection: Connection, frame: string): boolean {
  try {
    connection.send(frame);
    return true;
  } catch (error) {
    if (error instanceof TypeError && error.message.includes("after close")) return false;
    throw error;
  }
}

function durableSql(storage: DurableObjectStorage): Sql {
  return {
    exec: (statement, ...bindings) => storage.sql.exec(statement, ...bindings).toArray() as never,
    transaction: (work) => storage.transactionSync(work)
  };
}
