/** `@cloudflare/think`: the chat agent base class. */
export { Think } from "./think";
export { Workspace } from "@cloudflare/shell";
export type { WorkspaceLike } from "./workspace/workspace-like";
export type { ExecutionRuntime } from "./executions/executions";
export type { ExecutionOutcome, ExecuteOutput, PendingAction } from "./tools/execute/outputs";
export type { BashLimits } from "./tools/workspace/bash";
export { ThinkError, type ThinkErrorCode } from "./shared/errors/think-error";
export type { OnStartDegradation } from "./host/start-steps";
export type { ClientToolSchema } from "./protocol/frames";
export type { MediaEvictionConfig, MediaEvictionSetting } from "./session/media-settings";
export type { ChatErrorStage } from "./observability/events";
export type { ChatOptions, MessagesInput, SaveMessagesOptions, SaveMessagesResult } from "./turn/chat-api";
export type { ChatResponseResult } from "./turn/chat-response";
export { defaultContextOverflowClassifier, type ContextOverflowConfig } from "./recovery/overflow";
export type {
  ChatRecoveryConfig,
  ChatRecoveryExhaustedContext,
  ChatRecoveryProgressContext,
  ResolvedChatRecoveryConfig
} from "./recovery/config";
export type { ChatRecoveryContext, ChatRecoveryOptions } from "./recovery/recovery-types";
export type { ChatErrorClassification, ChatErrorContext } from "./turn/failures";
export type { ChatStartEvent, StreamCallback } from "./turn/stream-callback";
export type { MessageConcurrency } from "./turn/submit-gate";
export type { ClientToolCall } from "./loop/client-tools";
export type { AgentToolRunInspection, AgentToolStoredChunk, ChildRunStatus } from "./child-runs/child-run";
export type { TurnInput } from "./turn/turn";
export type * from "./public-types";
