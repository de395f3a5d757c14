/** The messages, the empty page, and the way back to the newest line. */
import type { UIMessage } from "ai";
import { type ReactNode, useLayoutEffect } from "react";
import { Icon } from "./icons";
import { Message, type RenderTool } from "./message";
import { ScrollArea } from "./scroll-area";
import type { Activity } from "./use-conversation";
import { useAutoscroll } from "./use-autoscroll";

interface ConversationProperties {
  readonly messages: readonly UIMessage[];
  /** Ids of the messages at which the person stopped. */
  readonly stopped: ReadonlySet<string>;
  readonly activity: Activity;
  readonly busy: boolean;
  /** What an empty chat shows. */
  readonly empty: ReactNode;
  /** Left out where nobody may ask again. */
  readonly onRetry?: () => void;
  /** Draws a tool call in place of the usual card; null leaves it to that. */
  readonly renderTool?: RenderTool | undefined;
}

export function Conversation(properties: ConversationProperties) {
  const { messages, stopped, activity, busy, empty, onRetry, renderTool } = properties;
  const { viewport, content, following, jumpToEnd } = useAutoscroll();
  const last = messages.at(-1);
  const lastRequest = messages.findLast((message) => message.role === "user")?.id;

  // Whoever sends a message wants to see what comes of it, wherever they were reading.
  useLayoutEffect(jumpToEnd, [lastRequest, jumpToEnd]);

  const waiting = busy && (last?.role === "user" || last?.parts.length === 0);
  return (
    <main className="conversation">
      <ScrollArea className="viewport" ref={viewport} label="Conversation">
        <div className="column" ref={content}>
          {messages.length === 0 && !busy && empty}
          {messages.map((message) => (
            <Message
              key={message.id}
              message={message}
              streaming={busy && message === last}
              stopped={stopped.has(message.id)}
              onRetry={message === last && !busy ? onRetry : undefined}
              renderTool={renderTool}
            />
          ))}
          {waiting && <Waiting activity={activity} />}
        </div>
      </ScrollArea>
      {!following && (
        <button type="button" className="button-jump" onClick={jumpToEnd}>
          <Icon name="arrowDown" size={16} />
          Newest
        </button>
      )}
    </main>
  );
}

function Waiting({ activity }: { readonly activity: Activity }) {
  return (
    <p className="waiting">
      <span className="waiting-dots" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      {activity === "recovering" ? "Picking up where it stopped…" : "Thinking…"}
    </p>
  );
}
