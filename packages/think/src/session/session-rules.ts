/** What sessions and what goes into them must be, whoever makes them: an agent, a session or a session manager. */
import { ThinkError } from "../shared/errors/think-error";
import { isRecord } from "../shared/json";
import { LIMITS, SESSION_LIMITS } from "../shared/limits";
import { boundSummary } from "./compaction/summary-prompt";
import type { SessionStore } from "./session-store";

export function checkSessionName(name: unknown): string {
  if (typeof name === "string" && name.trim() !== "" && name.length <= SESSION_LIMITS.nameChars) return name;
  throw new ThinkError(
    `A session's name is a text of 1 to ${SESSION_LIMITS.nameChars} characters; got ${quoted(name, 50)}.`,
    { code: "invalid-session" }
  );
}

/** Throws when there are as many sessions as there can be. `remedy` names what deletes one. */
export function checkRoom(
  sessions: Pick<SessionStore, "list">,
  remedy = "the call that deletes a session"
): void {
  if (sessions.list().length < SESSION_LIMITS.sessions) return;
  throw new ThinkError(
    `There are ${SESSION_LIMITS.sessions} sessions, which is the most there can be. Delete some with ${remedy}.`,
    { code: "invalid-session" }
  );
}

/** `listing` names the call that lists sessions. */
export function sessionNotFound(id: unknown, listing: string): ThinkError {
  return new ThinkError(
    `Session not found: ${quoted(id, SESSION_LIMITS.idChars)}. ${listing} lists those there are.`,
    { code: "session-not-found" }
  );
}

/** Model and source of a session. */
export function checkNotes(notes: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(notes)) {
    if (value === undefined || (typeof value === "string" && value.length <= SESSION_LIMITS.noteChars))
      continue;
    throw new ThinkError(
      `The ${name} of a session is a text of at most ${SESSION_LIMITS.noteChars} characters.`,
      { code: "invalid-session" }
    );
  }
}

/** Tokens and cost. */
export function checkAmounts(amounts: readonly number[]): void {
  const wrong = amounts.filter((amount) => !(Number.isFinite(amount) && amount >= 0));
  if (wrong.length === 0) return;
  throw new ThinkError(`addUsage() takes finite amounts that are not negative; got ${String(wrong[0])}.`, {
    code: "invalid-session"
  });
}

export function checkSummary(summary: unknown): string {
  const text = typeof summary === "string" ? boundSummary(summary) : "";
  if (text !== "") return text;
  throw new ThinkError("A summary must say something: it stands for messages from now on.", {
    code: "invalid-session"
  });
}

/** What cannot be read back must not be stored. Any role and any parts pass, none included: models and clients differ. */
export function checkMessage(message: unknown): void {
  const value = isRecord(message) ? message : {};
  const { id, role, parts } = value;
  const isNamed = typeof id === "string" && id !== "" && id.length <= LIMITS.messageIdChars;
  const isList =
    Array.isArray(parts) && parts.every((part) => isRecord(part) && typeof part.type === "string");
  if (isNamed && typeof role === "string" && isList) return;
  throw new ThinkError(
    `A message is { id, role, parts }: an id of 1 to ${LIMITS.messageIdChars} characters, a role, and a list of parts that have a type. Got ${quoted(id, 50)}.`,
    { code: "invalid-message" }
  );
}

/** A value as JSON for a message. A text that is too long is cut inside of its quotes. */
function quoted(value: unknown, maxChars: number): string {
  if (typeof value !== "string") return JSON.stringify(value)?.slice(0, maxChars) ?? "undefined";
  return JSON.stringify(value.length > maxChars ? `${value.slice(0, maxChars).toWellFormed()}…` : value);
}
