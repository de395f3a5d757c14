/**
 * The record of one interrupted turn while it is being recovered, and how it reads what is stored. Records of the published package
 * have the same shape; what it did not write has a fallback.
 */
import { z } from "zod";

/** `retry`: nothing of the answer exists, the question is asked again. `continue`: the model carries on from what is stored. */
export type RecoveryKind = "retry" | "continue";

export type IncidentStatus =
  | "detected"
  | "scheduled"
  | "attempting"
  | "completed"
  | "skipped"
  | "exhausted"
  | "failed";

const incidentSchema = z.object({
  incidentId: z.string(),
  requestId: z.string(),
  recoveryRootRequestId: z.string().optional(),
  recoveryKind: z.enum(["retry", "continue"]),
  attempt: z.number(),
  maxAttempts: z.number(),
  status: z.enum(["detected", "scheduled", "attempting", "completed", "skipped", "exhausted", "failed"]),
  firstSeenAt: z.number(),
  lastAttemptAt: z.number(),
  lastProgressAt: z.number().optional(),
  progress: z.number().optional(),
  workBaseline: z.number().optional(),
  reason: z.string().optional(),
  /** The schedule that will run the next attempt; an older one that still fires is ignored. */
  scheduleId: z.string().optional(),
  /** How many attempts have been planned. */
  plans: z.number().optional(),
  /** The session the turn belongs to; empty for the primary one. */
  sessionId: z.string().optional(),
  /** Whose turn it is, such as a submission's. */
  ownerId: z.string().optional()
});

export type Incident = Readonly<z.infer<typeof incidentSchema>>;

/** One record per turn, whatever its kind: both share one budget. */
export function incidentIdOf(rootRequestId: string, latestUserMessageId: string | undefined): string {
  return `${rootRequestId}:${latestUserMessageId ?? ""}`;
}

/** A damaged record is as good as none: the turn is then seen for the first time. */
export function parseIncident(value: unknown): Incident | null {
  const parsed = incidentSchema.safeParse(value);
  return parsed.success ? parsed.data : null;
}

/** The fields of every `chat:recovery:*` event. */
export function incidentEvent({ incidentId, requestId, attempt, maxAttempts, recoveryKind }: Incident) {
  return { incidentId, requestId, attempt, maxAttempts, recoveryKind };
}
