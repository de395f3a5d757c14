/**
 * What the stream's row keeps of a running turn, so that it can be run again: written with the row when the turn begins, before any model
 * work, and gone when it ends. Its names are those the published package gave its snapshot.
 */
import { z } from "zod";
import type { ClientToolSchema } from "../protocol/frames";

const snapshotSchema = z.object({
  kind: z.literal("think-chat-turn"),
  version: z.literal(1),
  recoveryRootRequestId: z.string(),
  /** The last message when the turn began. */
  latestMessageId: z.string().optional(),
  latestUserMessageId: z.string().optional(),
  lastBody: z.record(z.string(), z.unknown()).nullable(),
  /** Null: the turn had none that a connected client could run. */
  lastClientTools: z
    .array(
      z.object({
        name: z.string(),
        description: z.string().optional(),
        parameters: z.record(z.string(), z.unknown()).optional()
      })
    )
    .nullable(),
  ownerId: z.string().optional(),
  /** The user messages that the request ended with: the end of the recovered turn names them too. */
  messageIds: z.array(z.string()).optional(),
  /** Empty for the primary session. */
  sessionId: z.string()
});

export type TurnSnapshot = Readonly<z.infer<typeof snapshotSchema>>;

export interface SnapshotSource {
  readonly rootRequestId: string;
  readonly body?: Readonly<Record<string, unknown>> | undefined;
  readonly clientTools?: readonly ClientToolSchema[] | undefined;
  /** Runs the client tools on the caller's side; such tools die with the call. */
  readonly onClientToolCall?: unknown;
  readonly ownerId?: string | undefined;
  readonly messageIds?: readonly string[] | undefined;
}

export function encodeSnapshot(
  turn: SnapshotSource,
  place: Pick<TurnSnapshot, "latestMessageId" | "latestUserMessageId" | "sessionId">
): string {
  return JSON.stringify({
    kind: "think-chat-turn",
    version: 1,
    recoveryRootRequestId: turn.rootRequestId,
    ...place,
    lastBody: turn.body ?? null,
    lastClientTools: turn.onClientToolCall ? null : (turn.clientTools ?? null),
    ...(turn.ownerId === undefined ? {} : { ownerId: turn.ownerId }),
    ...(turn.messageIds?.length ? { messageIds: turn.messageIds } : {})
  });
}

/** A row of another make has no snapshot; its turn is recovered with what is known now. */
export function parseSnapshot(json: string | null | undefined): TurnSnapshot | null {
  const parsed = snapshotSchema.safeParse(parseJson(json));
  return parsed.success ? parsed.data : null;
}

export function parseJson(json: string | null | undefined): unknown {
  if (json === null || json === undefined) return null;
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return null;
  }
}
