/** The page: sidebar, and the open chat. Owns which chat is open and what is asked of the server once. */
import { Dialog, type DialogHandle, useChatId } from "@cloudflare/think-example-kit/page";
import { Suspense, useRef } from "react";
import { Chat } from "./chat";
import { ConnectDialog } from "./connect-dialog";
import { Sidebar } from "./sidebar";
import { useModelInfo } from "./use-model-info";

export function App() {
  const { chatId, openChat, newChat } = useChatId();
  const model = useModelInfo();
  const connectDialog = useRef<DialogHandle>(null);
  const drawer = useRef<DialogHandle>(null);

  const sidebar = (
    <Sidebar
      chatId={chatId}
      model={model}
      onOpenChat={(id) => {
        drawer.current?.close();
        openChat(id);
      }}
      onNewChat={() => {
        drawer.current?.close();
        newChat();
      }}
    />
  );

  return (
    <div className="app">
      <div className="app-sidebar">{sidebar}</div>
      <Dialog ref={drawer} label="Chats" className="drawer">
        {sidebar}
      </Dialog>
      <ConnectDialog ref={connectDialog} />
      <Suspense fallback={<p className="loading">Opening the chat…</p>}>
        <Chat
          key={chatId}
          chatId={chatId}
          model={model}
          onConnectModel={() => connectDialog.current?.open()}
          onOpenMenu={() => drawer.current?.open()}
          onNewChat={newChat}
        />
      </Suspense>
    </div>
  );
}
