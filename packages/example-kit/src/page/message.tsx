/** One message: the person's words in a bubble, the assistant's parts in the order they came. */
import { type DynamicToolUIPart, isToolUIPart, type ToolUIPart, type UIMessage } from "ai";
import type { ReactNode } from "react";
import { CopyButton } from "./copy-button";
import { Icon } from "./icons";
import { Markdown } from "./markdown";
import { messageText } from "./message-text";
import { Reasoning } from "./reasoning";
import { ToolCard } from "./tool-card";

export type RenderTool = (part: ToolUIPart | DynamicToolUIPart) => ReactNode;

interface MessageProperties {
  readonly message: UIMessage;
  /** True while this message is still being written. */
  readonly streaming: boolean;
  /** True when the person stopped it here. */
  readonly stopped: boolean;
  /** Given only for a message that can be answered again. */
  readonly onRetry: (() => void) | undefined;
  /** Draws a tool call in place of the usual card; null leaves it to that. */
  readonly renderTool?: RenderTool | undefined;
}

export function Message({ message, streaming, stopped, onRetry, renderTool }: MessageProperties) {
  const text = messageText(message);
  if (message.role === "user") {
    return (
      <article className="message message-user" aria-label="You">
        <p className="bubble">{text}</p>
        {onRetry !== undefined && <Actions text={text} stopped={stopped} onRetry={onRetry} />}
      </article>
    );
  }
  return (
    <article
      className="message message-assistant"
      aria-label="Assistant"
      data-streaming={streaming}
      aria-busy={streaming}
    >
      {message.parts.map((part, index) => (
        <Part
          key={index}
          part={part}
          live={streaming && index === message.parts.length - 1}
          renderTool={renderTool}
        />
      ))}
      {!streaming && <Actions text={text} stopped={stopped} onRetry={onRetry} />}
    </article>
  );
}

interface PartProperties {
  readonly part: UIMessage["parts"][number];
  /** True for the part that is being written now. */
  readonly live: boolean;
  readonly renderTool: RenderTool | undefined;
}

/** Not memoised by part: the hook updates parts of a watched stream in place. Markdown is, by its text. */
function Part({ part, live, renderTool }: PartProperties) {
  if (part.type === "text") return part.text === "" ? null : <Markdown text={part.text} live={live} />;
  if (part.type === "reasoning") return <Reasoning text={part.text} live={live} />;
  return isToolUIPart(part) ? (renderTool?.(part) ?? <ToolCard part={part} />) : null;
}

interface ActionsProperties {
  readonly text: string;
  readonly stopped: boolean;
  readonly onRetry: (() => void) | undefined;
}

function Actions({ text, stopped, onRetry }: ActionsProperties) {
  return (
    <div className="actions">
      {text !== "" && <CopyButton text={text} label="Copy message" />}
      {onRetry !== undefined && (
        <button
          type="button"
          className="button-icon button-small"
          aria-label="Retry"
          title="Answer again"
          onClick={onRetry}
        >
          <Icon name="retry" size={16} />
        </button>
      )}
      {stopped && <span className="stopped">Stopped</span>}
    </div>
  );
}
