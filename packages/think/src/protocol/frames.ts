/**
 * The `cf_agent_*` chat protocol: every frame both ways, as types. The names and fields are those that existing
 * clients and servers use; optional flags are present only when true.
 */
import type { UIMessage } from "ai";

export const FRAME = {
  chatRequest: "cf_agent_use_chat_request",
  chatResponse: "cf_agent_use_chat_response",
  chatMessages: "cf_agent_chat_messages",
  chatClear: "cf_agent_chat_clear",
  chatCancel: "cf_agent_chat_request_cancel",
  chatRecovering: "cf_agent_chat_recovering",
  messageUpdated: "cf_agent_message_updated",
  toolResult: "cf_agent_tool_result",
  toolApproval: "cf_agent_tool_approval",
  resumeRequest: "cf_agent_stream_resume_request",
  streamPending: "cf_agent_stream_pending",
  resuming: "cf_agent_stream_resuming",
  resumeAck: "cf_agent_stream_resume_ack",
  resumeNone: "cf_agent_stream_resume_none",
  session: "cf_agent_session",
  sessionError: "cf_agent_session_error"
} as const;

/** What made the client send a request. */
export type ChatTrigger = "submit-message" | "regenerate-message";

/** A tool that runs in the client, as the client describes it. */
export interface ClientToolSchema {
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema of the input. Default: any object. */
  readonly parameters?: Record<string, unknown> | undefined;
}

/** The body of a chat request, decoded. */
export interface ChatRequestBody {
  readonly messages: readonly UIMessage[];
  readonly trigger: ChatTrigger;
  /** Absent: the client said nothing about its tools. Empty: it has none. */
  readonly clientTools?: readonly ClientToolSchema[] | undefined;
  /** Every other field of the body: the application's own. */
  readonly custom: Readonly<Record<string, unknown>>;
}

export interface ChatRequestFrame {
  readonly type: typeof FRAME.chatRequest;
  readonly id: string;
  readonly body: ChatRequestBody;
}

export interface ChatCancelFrame {
  readonly type: typeof FRAME.chatCancel;
  readonly id: string;
}

export interface ChatClearFrame {
  readonly type: typeof FRAME.chatClear;
}

export interface ResumeRequestFrame {
  readonly type: typeof FRAME.resumeRequest;
  readonly probeId?: string | undefined;
}

export interface ResumeAckFrame {
  readonly type: typeof FRAME.resumeAck;
  readonly id: string;
}

/** A client ran a tool, or could not. */
export interface ToolResultFrame {
  readonly type: typeof FRAME.toolResult;
  readonly toolCallId: string;
  /** Empty when the client did not say. */
  readonly toolName: string;
  readonly output?: unknown;
  /** Default: `output-available`. */
  readonly state?: "output-available" | "output-error" | undefined;
  readonly errorText?: string | undefined;
  /** Whether the model goes on by itself. Default: false. */
  readonly autoContinue?: boolean | undefined;
  readonly clientTools?: readonly ClientToolSchema[] | undefined;
}

/** A person allowed or refused a tool call. */
export interface ToolApprovalFrame {
  readonly type: typeof FRAME.toolApproval;
  readonly toolCallId: string;
  readonly approved: boolean;
  /** Whether the model goes on by itself. Default: false. */
  readonly autoContinue?: boolean | undefined;
}

/** Sent by the hook's `setMessages`; read and ignored, because the server's storage is authoritative. */
export interface ClientMessagesFrame {
  readonly type: typeof FRAME.chatMessages;
}

/** A frame from a client, decoded and checked. */
export type ClientFrame =
  | ChatRequestFrame
  | ChatCancelFrame
  | ChatClearFrame
  | ResumeRequestFrame
  | ResumeAckFrame
  | ToolResultFrame
  | ToolApprovalFrame
  | ClientMessagesFrame;

/** How a turn ended, as told to clients. */
/** `recovering`: the request has ended, and recovery carries its turn on under another id. */
export type WireOutcome = "completed" | "error" | "aborted" | "skipped" | "recovering";

export interface ChatResponseFrame {
  readonly type: typeof FRAME.chatResponse;
  readonly id: string;
  /** A UI message chunk as JSON text, an error text when `error`, or empty. */
  readonly body: string;
  readonly done: boolean;
  readonly error?: true;
  readonly continuation?: true;
  readonly replay?: true;
  readonly replayComplete?: true;
  /** Position of the chunk in its stream, from 0. */
  readonly seq?: number;
  /** On the terminal frame: how the turn ended. */
  readonly outcome?: WireOutcome;
  /** On the terminal frame of a request from a client: the user messages it ended with. */
  readonly messageIds?: readonly string[];
}

/** How full the session is, and whether it is being compacted. */
export interface SessionStatusFrame {
  readonly type: typeof FRAME.session;
  readonly phase: "idle" | "compacting";
  readonly tokenEstimate: number;
  /** Estimate above which the session compacts itself; null when it does not. */
  readonly tokenThreshold: number | null;
  /** Only right after a compaction. */
  readonly compacted?: { readonly tokensBefore: number };
}

/** A compaction failed. */
export interface SessionErrorFrame {
  readonly type: typeof FRAME.sessionError;
  readonly error: string;
}

/** A frame from the server. */
export type ServerFrame =
  | ChatResponseFrame
  | SessionStatusFrame
  | SessionErrorFrame
  | {
      readonly type: typeof FRAME.chatMessages;
      readonly messages: readonly UIMessage[];
      readonly connect?: true;
    }
  | { readonly type: typeof FRAME.chatClear }
  | { readonly type: typeof FRAME.chatRecovering; readonly recovering: boolean; readonly id?: string }
  | { readonly type: typeof FRAME.messageUpdated; readonly message: UIMessage }
  | { readonly type: typeof FRAME.resuming; readonly id: string; readonly probeId?: string }
  /** The stream does not exist yet; an offer or a refusal follows. */
  | { readonly type: typeof FRAME.streamPending; readonly id?: string; readonly probeId?: string }
  | {
      readonly type: typeof FRAME.resumeNone;
      readonly reason?: "idle" | "continuation-owned";
      readonly probeId?: string;
    };
