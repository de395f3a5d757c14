/** The lead's chat. Draws each delegation as a researcher's card, fed by the frames of its run. */
import {
  Announcer,
  Composer,
  type ComposerHandle,
  Conversation,
  ErrorBanner,
  useConversation,
  useStopOnEscape,
  Welcome
} from "@cloudflare/think-example-kit/page";
import { useRef } from "react";
import { DeskHeader } from "./desk-header";
import { RunCard } from "./run-card";
import { isResearch, type OpenRun, type ToolPart, useRuns } from "./runs";

const WELCOME = {
  title: "What shall we find out?",
  text: "The lead sends one researcher per topic, all at once. You see each one work, look in on its own chat, or stop it.",
  suggestions: [
    { icon: "book", title: "Two at once", text: "research tides and lighthouses" },
    { icon: "book", title: "Two others", text: "compare honeybees with sourdough" },
    { icon: "search", title: "Just one", text: "find out about northern lights" },
    { icon: "alert", title: "One that is not there", text: "research knots and submarines" }
  ]
} as const;

interface LeadChatProperties {
  readonly chatId: string;
  readonly openRunId: string | undefined;
  readonly onOpenRun: (run: Omit<OpenRun, "chatId">) => void;
  /** The same function for every render: it is called from a listener. */
  readonly onRunsCleared: () => void;
  readonly onNewChat: () => void;
}

export function LeadChat({ chatId, openRunId, onOpenRun, onRunsCleared, onNewChat }: LeadChatProperties) {
  const chat = useConversation({ agent: "Lead", name: chatId });
  const runs = useRuns(chat.connection, onRunsCleared);
  const composer = useRef<ComposerHandle>(null);
  const stop = (): void => {
    chat.stop();
    composer.current?.focus();
  };
  useStopOnEscape(chat.busy, stop);

  const renderTool = (part: ToolPart) => {
    if (!isResearch(part)) return null;
    const run = runs.of(part);
    return (
      <RunCard
        part={part}
        run={run}
        open={run !== undefined && run.runId === openRunId}
        onOpen={({ runId, subAgent }, topic) => onOpenRun({ runId, agent: subAgent.agent, topic })}
        onStop={({ runId }) => void runs.stop(runId)}
      />
    );
  };

  return (
    <div className="chat">
      <DeskHeader
        activity={chat.activity}
        runs={runs.all}
        onCleanUp={() => void runs.clear()}
        onNewChat={onNewChat}
      />
      <Conversation
        messages={chat.messages}
        stopped={chat.stopped}
        activity={chat.activity}
        busy={chat.busy}
        empty={<Welcome {...WELCOME} onSuggest={chat.send} />}
        onRetry={chat.retry}
        renderTool={renderTool}
      />
      <div className="dock">
        {chat.error !== undefined && (
          <ErrorBanner message={chat.error.message} onRetry={chat.retry} onDismiss={chat.dismissError} />
        )}
        <Composer
          ref={composer}
          busy={chat.busy}
          onSend={chat.send}
          onStop={stop}
          placeholder="Name one or two topics…"
        />
      </div>
      <Announcer messages={chat.messages} activity={chat.activity} />
    </div>
  );
}
