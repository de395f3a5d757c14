export type { AgentAddress, AgentName } from "./agent-url";
export {
  connectChat,
  userMessage,
  type ChatClient,
  type ChatNamespace,
  type ChatRequestOptions,
  type ConnectOptions,
  type NamespaceConnectOptions,
  type ResumeOptions,
  type ToolResult
} from "./chat-client";
export type { ChatTurn, ChatTurnResult } from "./chat-turn";
export type { FrameMatch, ReceivedFrame, WaitOptions } from "./frame-log";
export { gate, type Gate, type GateOptions } from "./gate";
export type { ChatFetcher, ChatServer } from "./open-socket";
export { setDefaultTimeout } from "./patience";
export type { ModelFinishReason, ModelPrompt, ModelStreamPart, ModelTool } from "./model-types";
export {
  cutOff,
  delay,
  file,
  finish,
  hang,
  reasoning,
  source,
  streamError,
  streamPart,
  text,
  throwError,
  toolCall,
  usage,
  type DeltaOptions,
  type ScriptAnswer,
  type ScriptFunction,
  type ScriptPart,
  type ScriptStep,
  type ScriptUsage,
  type ToolCallOptions
} from "./script";
export type { ScriptedCall, ScriptedCallStatus } from "./scripted-call";
export {
  scriptedModel,
  type ExhaustedPolicy,
  type Script,
  type ScriptedModel,
  type ScriptedModelOptions
} from "./scripted-model";
export { crash, crashAll, evict, evictAll, fireAlarm, runInAgent, type EvictOptions } from "./durable-object";
export { fakeClock, type FakeClock, type FakeClockOptions } from "./fake-clock";
export {
  countAllRows,
  countRows,
  countRowsOf,
  type RowCounter,
  type RowCounts,
  type SqlCost
} from "./row-counter";
