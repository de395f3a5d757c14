/**
 * The decisions of the resume handshake, pure: what a connection is answered when it asks, and what its acceptance means.
 */
import type { StreamRecord } from "./stream-store";

/** What a pending or running continuation has to say to a request. */
export type ResumeClaim =
  | { readonly kind: "open" }
  /** The active stream is a continuation that another connection follows. */
  | { readonly kind: "owned" }
  /** The connection has to wait for a continuation that has no stream yet. */
  | { readonly kind: "hold"; readonly requestId: string };

export type ResumeAnswer =
  /** `exclude`: no live chunks until it accepts. */
  | { readonly kind: "offer"; readonly requestId: string; readonly exclude: boolean }
  /** An answer follows when the stream exists, or when it is clear that it never will. */
  | { readonly kind: "hold"; readonly requestId: string }
  | { readonly kind: "none"; readonly reason: "idle" | "continuation-owned" };

/** The running stream comes first, then one that is about to start, then a failure that somebody may not know of. */
export function answerRequest(record: StreamRecord | null, claim: ResumeClaim): ResumeAnswer {
  if (claim.kind === "owned") return { kind: "none", reason: "continuation-owned" };
  if (record?.status === "streaming") return { kind: "offer", requestId: record.requestId, exclude: true };
  if (claim.kind === "hold") return claim;
  if (record?.status === "error") return { kind: "offer", requestId: record.requestId, exclude: false };
  return { kind: "none", reason: "idle" };
}

/** `ignore`: it answers an older offer and must not open the way for live chunks. `end`: nothing is known of that request. */
export type Acceptance = "replay" | "ignore" | "end";

export function answerAcknowledgement(record: StreamRecord | null, requestId: string): Acceptance {
  if (record?.requestId === requestId) return "replay";
  return record?.status === "streaming" ? "ignore" : "end";
}
