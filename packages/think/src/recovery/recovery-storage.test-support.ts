/** Storage in memory for the simulated agents: what an isolate writes after its death is lost. */
import type { UIMessage, UIMessageChunk } from "ai";
import type { Conversation } from "../session/conversation";
import type { StreamRecord, StreamStore } from "../stream/stream-store";
import type { KeyValue } from "./incident-store";

/** What outlives an isolate. */
export interface Disk {
  readonly messages: UIMessage[];
  readonly kv: Map<string, unknown>;
  readonly chunkRows: Map<number, { readonly streamId: string; readonly body: string }>;
  record: StreamRecord | null;
  /** What the next write of a terminal record throws. */
  failTerminal: Error | undefined;
  /** How many isolates have died. */
  readonly lives: number;
}

/** What a dead isolate writes is lost. */
export function whileAlive(world: Disk, life: number): () => boolean {
  return () => world.lives === life;
}

export function keyValue(world: Disk, life: number): KeyValue {
  const isAlive = whileAlive(world, life);
  return {
    get: (key) => world.kv.get(key),
    put: (key, value) => void (isAlive() && world.kv.set(key, structuredClone(value))),
    delete: (key) => void (isAlive() && world.kv.delete(key)),
    list: (prefix) => [...world.kv].filter(([key]) => key.startsWith(prefix))
  };
}

export function streamStore(world: Disk, life: number): StreamStore {
  const isAlive = whileAlive(world, life);
  const rows = () => [...world.chunkRows.values()];
  return {
    load: () => world.record,
    save: (record) => {
      if (!isAlive()) return;
      const failure = record.status === "error" ? world.failTerminal : undefined;
      world.failTerminal = undefined;
      if (failure) throw failure;
      world.record = record;
    },
    writeRow: (streamId, index, body) => void (isAlive() && world.chunkRows.set(index, { streamId, body })),
    chunks: (streamId) =>
      rows().flatMap((row) => (row.streamId === streamId ? (JSON.parse(row.body) as UIMessageChunk[]) : [])),
    countRows: (streamId) => rows().filter((row) => row.streamId === streamId).length,
    clear: () => {
      if (!isAlive()) return;
      world.record = null;
      world.chunkRows.clear();
    }
  };
}

export function conversationOf(world: Disk, life: number): Conversation {
  const isAlive = whileAlive(world, life);
  const { messages } = world;
  // Only what turns and recovery use of it.
  return {
    messages,
    upTo: () => messages,
    get: (id: string) => messages.find((message) => message.id === id),
    put: (message: UIMessage) => {
      if (!isAlive()) return null;
      const known = messages.findIndex(({ id }) => id === message.id);
      const stored = structuredClone(message);
      if (known === -1) messages.push(stored);
      else messages[known] = stored;
      return stored;
    }
  } as unknown as Conversation;
}
