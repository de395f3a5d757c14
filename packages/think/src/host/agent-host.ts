/**
 * The Host over the Agents SDK base class.
 */
import type { Agent, Connection } from "agents";
import type { Clock, Ids } from "../shared/clock";
import type { Sql } from "../storage/sql";
import type { Host } from "./host";

/** The members of an agent that the host uses; all public. */
export type HostAgent = Pick<Agent, "getConnection" | "getConnections" | "broadcast" | "keepAlive" | "parentPath">;

export function createAgentHost(agent: HostAgent, storage: DurableObjectStorage): Host {
  return {
    sql: durableSql(storage),
    clock: systemClock,
    ids: systemIds,
    send(connectionId, frame) {
      const connection = agent.getConnection(connectionId);
      return connection !== undefined && sendIfOpen(connection, frame);
    },
    broadcast(frame, without) {
      // Inside a child the sockets live at the root: one call reaches all of them. At the root a socket that has just closed
      // must not keep the frame from the others, which is what the base class's loop would let happen.
      if (agent.parentPath.length > 0) return agent.broadcast(frame, [...without]);
      for (const connection of agent.getConnections()) {
        if (!without.includes(connection.id)) sendIfOpen(connection, frame);
      }
    },
    keepAlive: () => agent.keepAlive()
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

const systemClock: Clock = {
  now: () => Date.now(),
  setTimer(callback, ms) {
    const timer = setTimeout(callback, ms);
    return { cancel: () => clearTimeout(timer) };
  }
};

const systemIds: Ids = { next: () => crypto.randomUUID() };
