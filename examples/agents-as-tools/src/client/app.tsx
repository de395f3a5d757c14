/** The page: the lead's chat, and beside it the researcher somebody looks in on. Owns which chat and which run are open. */
import { useChatId } from "@cloudflare/think-example-kit/page";
import { Suspense, useCallback, useState } from "react";
import { LeadChat } from "./lead-chat";
import { RunPanel } from "./run-panel";
import type { OpenRun } from "./runs";

export function App() {
  const { chatId, newChat } = useChatId();
  const [open, setOpen] = useState<OpenRun>();
  const close = useCallback(() => setOpen(undefined), []);
  // A run belongs to one chat; another chat has none of that name.
  const shown = open?.chatId === chatId ? open : undefined;
  return (
    <div className="desk" data-open={shown !== undefined}>
      <Suspense fallback={<p className="loading">Opening the desk…</p>}>
        <LeadChat
          key={chatId}
          chatId={chatId}
          openRunId={shown?.runId}
          onOpenRun={(run) => setOpen({ ...run, chatId })}
          onRunsCleared={close}
          onNewChat={newChat}
        />
      </Suspense>
      {shown !== undefined && (
        <aside className="run-panel" aria-label={`Researcher: ${shown.topic}`}>
          <Suspense fallback={<p className="loading">Looking in…</p>}>
            <RunPanel key={shown.runId} run={shown} onClose={close} />
          </Suspense>
        </aside>
      )}
    </div>
  );
}
