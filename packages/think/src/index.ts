/** `@cloudflare/think`: the chat agent base class. */
export { Think } from "./think";
export { ThinkError, type ThinkErrorCode } from "./shared/errors/think-error";
export type { OnStartDegradation } from "./host/start-steps";
export type { ClientToolSchema } from "./protocol/frames";
export type { MediaEvictionConfig, MediaEvictionSetting } from "./session/media-settings";
export type { ChatErrorStage } from "./observability/events";
export type { ChatOptions, MessagesInput, SaveMessagesOptions, SaveMessagesResult } from "./turn/chat-api";
export type { ChatResponseResult } from "./turn/chat-response";
export type { ChatErrorContext } from "./turn/failures";
export type { ChatStartEvent, StreamCallback } from "./turn/stream-callback";
export type { MessageConcurrency } from "./turn/submit-gate";
export type { ClientToolCall } from "./loop/client-tools";
export type { TurnInput } from "./turn/turn";
export type * from "./public-types";
