/**
 * What a screen reader hears: that an answer has begun, and the answer once it is complete. A live region
 * around the conversation itself would read every word as it streams.
 */
import type { UIMessage } from "ai";
import { useState } from "react";
import { messageText, spokenText } from "./message-text";
import type { Activity } from "./use-conversation";

/** Longest piece of an answer read out unasked (characters). */
const MAXIMUM_ANNOUNCEMENT = 600;

const ANNOUNCED: Partial<Readonly<Record<Activity, string>>> = {
  reconnecting: "Connection lost. Reconnecting.",
  recovering: "The answer was interrupted and is being recovered.",
  waiting: "The assistant is answering.",
  answering: "The assistant is answering."
};

interface AnnouncerProperties {
  readonly messages: readonly UIMessage[];
  readonly activity: Activity;
}

export function Announcer({ messages, activity }: AnnouncerProperties) {
  const [before, setBefore] = useState(activity);
  const [announcement, setAnnouncement] = useState("");
  // During the render, as React asks for state that follows a property: the old words are never announced again.
  if (activity !== before) {
    setBefore(activity);
    const last = messages.at(-1);
    const finished = before === "answering" && activity === "idle" && last?.role === "assistant";
    setAnnouncement(
      finished ? spokenText(messageText(last)).slice(0, MAXIMUM_ANNOUNCEMENT) : (ANNOUNCED[activity] ?? "")
    );
  }
  return <output className="visually-hidden">{announcement}</output>;
}
