/**
 * Stops turns this tab did not start. The chat hook cancels its own requests; a turn begun in another tab is only
 * watched, so its id is taken from the frames that go by. Used by `useAssistant`.
 */
import { useCallback, useEffect, useRef } from "react";

/** What is needed of the agent connection. */
export interface FrameSource {
  readonly send: (data: string) => void;
  readonly addEventListener: (type: "message", listener: (event: MessageEvent) => void) => void;
  readonly removeEventListener: (type: "message", listener: (event: MessageEvent) => void) => void;
}

/** Returns a function that cancels the turn whose answer is arriving, if there is one. */
export function useObservedTurn(agent: FrameSource): () => void {
  const running = useRef<string>(undefined);

  useEffect(() => {
    const onMessage = (event: MessageEvent): void => {
      const frame = readFrame(event.data);
      if (frame === undefined) return;
      if (!frame.done) running.current = frame.id;
      else if (running.current === frame.id) running.current = undefined;
    };
    agent.addEventListener("message", onMessage);
    return () => agent.removeEventListener("message", onMessage);
  }, [agent]);

  return useCallback(() => {
    if (running.current === undefined) return;
    agent.send(JSON.stringify({ type: "cf_agent_chat_request_cancel", id: running.current }));
  }, [agent]);
}

function readFrame(data: unknown): { readonly id: string; readonly done: boolean } | undefined {
  if (typeof data !== "string" || !data.includes("cf_agent_use_chat_response")) return undefined;
  try {
    const frame: unknown = JSON.parse(data);
    if (typeof frame !== "object" || frame === null || !("type" in frame) || !("id" in frame))
      return undefined;
    if (frame.type !== "cf_agent_use_chat_response" || typeof frame.id !== "string") return undefined;
    return { id: frame.id, done: "done" in frame && frame.done === true };
  } catch {
    // Not a frame of ours.
    return undefined;
  }
}
