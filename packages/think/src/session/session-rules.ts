/** What named sessions must be, whoever makes them: an agent or a session manager. */
import { ThinkError } from "../shared/errors/think-error";
import { SESSION_LIMITS } from "../shared/limits";
import type { SessionStore } from "./session-store";

export function checkSessionName(name: unknown): string {
  if (typeof name === "string" && name.trim() !== "" && name.length <= SESSION_LIMITS.nameChars) return name;
  throw new ThinkError(
    `A session's name is a text of 1 to ${SESSION_LIMITS.nameChars} characters; got ${JSON.stringify(name)?.slice(0, 50)}.`,
    { code: "invalid-session" }
  );
}

/** Throws when there are as many sessions as there can be. `remedy` names the call that deletes one. */
export function checkRoom(sessions: Pick<SessionStore, "list">, remedy: string): void {
  if (sessions.list().length < SESSION_LIMITS.sessions) return;
  throw new ThinkError(
    `There are ${SESSION_LIMITS.sessions} sessions, which is the most there can be. Delete some with ${remedy}.`,
    { code: "invalid-session" }
  );
}

/** `listing` names the call that lists sessions. */
export function sessionNotFound(id: unknown, listing: string): ThinkError {
  return new ThinkError(
    `Session not found: ${JSON.stringify(id)?.slice(0, SESSION_LIMITS.idChars)}. ${listing} lists those there are.`,
    { code: "session-not-found" }
  );
}
