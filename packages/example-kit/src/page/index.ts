export { Announcer } from "./announcer";
export { CodeBlock } from "./code-block";
export { Composer, type ComposerHandle } from "./composer";
export { Conversation } from "./conversation";
export { CopyButton } from "./copy-button";
export { Dialog, type DialogHandle } from "./dialog";
export { ErrorBanner } from "./error-banner";
export { Icon, type IconName, Logo } from "./icons";
export { Markdown } from "./markdown";
export { Message, type RenderTool } from "./message";
export { chatTitle, messageText } from "./message-text";
export { ScrollArea } from "./scroll-area";
export { StatusBar } from "./status-bar";
export { load, save } from "./storage";
export { ThemeSwitch } from "./theme-switch";
export { ToolCard } from "./tool-card";
export {
  type Activity,
  type AgentConnection,
  type ChatAddress,
  type ConversationState,
  useConversation
} from "./use-conversation";
export { useChatId } from "./use-chat-id";
export { useStopOnEscape } from "./use-stop-on-escape";
export { type Suggestion, Welcome } from "./welcome";
