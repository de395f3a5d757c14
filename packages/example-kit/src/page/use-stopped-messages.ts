/** Remembers at which messages the person stopped a turn in this tab, so that a short answer is not taken for a whole one. */
import type { UIMessage } from "ai";
import { useState } from "react";

export interface StoppedMessages {
  /** The last message of each stopped turn: the answer, or the request when nothing had been said. */
  readonly stopped: ReadonlySet<string>;
  /** Call it when the person stops the running turn. */
  readonly markStopping: () => void;
}

export function useStoppedMessages(messages: readonly UIMessage[], busy: boolean): StoppedMessages {
  const [stopping, setStopping] = useState(false);
  const [stopped, setStopped] = useState<ReadonlySet<string>>(new Set<string>());
  // During the render, as React asks for state that follows a property: which message was last is known once the turn is over.
  if (stopping && !busy) {
    setStopping(false);
    const last = messages.at(-1);
    if (last !== undefined) setStopped(new Set(stopped).add(last.id));
  }
  return { stopped: atEndsOfAnswers(messages, stopped), markStopping: () => setStopping(true) };
}

/**
 * An answer that went on after an interruption is stored as several messages, but the tab that watched holds one until the stored list
 * arrives. The stop belongs to the end of the answer, not to where the interruption had cut it.
 */
function atEndsOfAnswers(messages: readonly UIMessage[], stopped: ReadonlySet<string>): ReadonlySet<string> {
  const ends = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (!stopped.has(message.id)) continue;
    const next =
      message.role === "user"
        ? index + 1
        : messages.findIndex(({ role }, at) => at > index && role !== "assistant");
    ends.add(messages.at(next === -1 ? -1 : next - 1)?.id ?? message.id);
  }
  return ends;
}
