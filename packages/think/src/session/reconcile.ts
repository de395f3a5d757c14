/**
 * Brings the list a client sent together with what the server knows. A client may be behind (a tool has settled meanwhile) or have
 * made up ids for answers the server stored under its own; neither may cost stored content or duplicate a message.
 * Called for WebSocket requests only; pure.
 *
 * I1. Each stored message is claimed by at most one incoming message.
 * I2. Linear in the size of both lists. Indexes are built only when a message needs them: a list without news needs none.
 */
import type { UIMessage } from "ai";
import { jsonEqual } from "../shared/json";
import { hasToolParts, isToolPart, type Part, type ToolPart } from "./parts";

export interface KnownMessages {
  /** The stored message with this id. */
  get(id: string): UIMessage | undefined;
  /** Every message of the active path. Read at most once, and only when ids do not tell. */
  newestFirst(): Iterable<UIMessage>;
  /** Ids that are taken although they are not in the list. */
  readonly claimed?: Iterable<string>;
}

/**
 * The incoming messages with server ids and settled tool states, in order; those that repeat an already claimed message are left
 * out. `incoming` is already sanitised.
 */
export function reconcile(incoming: readonly UIMessage[], known: KnownMessages): UIMessage[] {
  const stored = new Map(incoming.map(({ id }) => [id, known.get(id)]));
  const claimed = new Set(known.claimed);
  for (const [id, message] of stored) if (message) claimed.add(id);
  const index = lazy(() => indexMessages(known.newestFirst(), wantedBy(incoming, stored), claimed));
  const result: UIMessage[] = [];
  for (const message of incoming) {
    const before = stored.get(message.id);
    if (message.role !== "assistant" || (before && jsonEqual(before, message))) {
      result.push(message);
      continue;
    }
    const own = lazy(() => new Map(before?.parts.filter(isToolPart).map((part) => [part.toolCallId, part])));
    const merged = mergeToolStates(
      message,
      (toolCallId) => own().get(toolCallId) ?? index().tools.get(toolCallId)?.part
    );
    const id = before ? message.id : serverId(merged, index());
    if (id !== message.id && claimed.has(id)) continue;
    claimed.add(id);
    result.push(id === message.id ? merged : { ...merged, id });
  }
  return result;
}

/** Whether the incoming message only lacks parts at the end that the stored one has: its sender has not seen them yet. */
export function isBehind(incoming: UIMessage, stored: UIMessage): boolean {
  if (incoming.role !== "assistant" || incoming.parts.length >= stored.parts.length) return false;
  return incoming.parts.every((part, position) => jsonEqual(part, stored.parts[position]));
}

/** What the incoming messages may be looking for; the index holds nothing else, however long the path is. */
interface Wanted {
  readonly toolCallIds: ReadonlySet<string>;
  readonly texts: ReadonlySet<string>;
}

interface ServerIndex {
  readonly tools: ReadonlyMap<string, { readonly part: ToolPart; readonly messageId: string }>;
  /** Takes the oldest unclaimed answer with these parts. */
  claimText(message: UIMessage): string | undefined;
}

function wantedBy(
  incoming: readonly UIMessage[],
  stored: ReadonlyMap<string, UIMessage | undefined>
): Wanted {
  const toolCallIds = new Set<string>();
  const texts = new Set<string>();
  for (const message of incoming) {
    if (message.role !== "assistant") continue;
    for (const part of message.parts) if (isToolPart(part)) toolCallIds.add(part.toolCallId);
    if (!stored.get(message.id) && !hasToolParts(message)) texts.add(partsKey(message));
  }
  return { toolCallIds, texts };
}

function indexMessages(
  newestFirst: Iterable<UIMessage>,
  wanted: Wanted,
  claimed: ReadonlySet<string>
): ServerIndex {
  const tools = new Map<string, { part: ToolPart; messageId: string }>();
  const texts = new Map<string, string[]>();
  for (const message of newestFirst) {
    if (message.role !== "assistant") continue;
    // Backwards too, so that the first message and the first part with an id have the last word.
    for (const part of message.parts.toReversed()) {
      if (isToolPart(part) && wanted.toolCallIds.has(part.toolCallId))
        tools.set(part.toolCallId, { part, messageId: message.id });
    }
    if (wanted.texts.size === 0 || claimed.has(message.id) || hasToolParts(message)) continue;
    const key = partsKey(message);
    if (wanted.texts.has(key)) getOrMake(texts, key).push(message.id);
  }
  return { tools, claimText: (message) => texts.get(partsKey(message))?.pop() };
}

function serverId(message: UIMessage, index: ServerIndex): string {
  if (!hasToolParts(message)) return index.claimText(message) ?? message.id;
  for (const part of message.parts) {
    const owner = isToolPart(part) ? index.tools.get(part.toolCallId) : undefined;
    if (owner) return owner.messageId;
  }
  return message.id;
}

function partsKey(message: UIMessage): string {
  return JSON.stringify(message.parts);
}

const OPEN_STATES: ReadonlySet<string> = new Set([
  "input-available",
  "approval-requested",
  "approval-responded"
]);

/** The field that a settled state brings along. */
const PAYLOADS: ReadonlyMap<string, string> = new Map([
  ["output-available", "output"],
  ["output-error", "errorText"],
  ["output-denied", "approval"]
]);

function mergeToolStates(message: UIMessage, find: (toolCallId: string) => ToolPart | undefined): UIMessage {
  let changed = false;
  const parts = message.parts.map((part): Part => {
    if (!isToolPart(part) || !OPEN_STATES.has(part.state)) return part;
    const stored = find(part.toolCallId);
    const payload = stored && PAYLOADS.get(stored.state);
    if (stored === undefined || payload === undefined) return part;
    changed = true;
    const value = (stored as unknown as Record<string, unknown>)[payload];
    return { ...part, state: stored.state, ...(value === undefined ? {} : { [payload]: value }) } as Part;
  });
  return changed ? { ...message, parts } : message;
}

function getOrMake(map: Map<string, string[]>, key: string): string[] {
  const list = map.get(key) ?? [];
  map.set(key, list);
  return list;
}

function lazy<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
