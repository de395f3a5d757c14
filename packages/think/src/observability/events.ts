/**
 * Every event the chat emits, with its payload. They go to the agent's observability sink; `chat:*` arrive on the
 * channel `agents:chat`, `message:*` on `agents:message`, `chat:transcript:*` on `agents:transcript`.
 */

/** Where in its life a request failed. */
export type ChatErrorStage = "parse" | "persist" | "turn" | "stream" | "recovery" | "transcript";

/** What every event of an incident tells. */
export interface RecoveryEvent {
  readonly incidentId: string;
  readonly requestId: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly recoveryKind: "retry" | "continue";
}

export interface ChatEvents {
  "chat:request:failed": {
    readonly requestId?: string | undefined;
    readonly stage: ChatErrorStage;
    readonly messagesPersisted?: boolean | undefined;
    readonly error: string;
  };
  /** An error the model reported inside its stream. */
  "message:error": { readonly error: string };
  "chat:transcript:repaired": {
    readonly removedToolCalls: number;
    readonly normalizedInputs: number;
    readonly toolCallIds: readonly string[];
  };
  "chat:recovery:detected": RecoveryEvent;
  "chat:recovery:attempt": RecoveryEvent;
  "chat:recovery:scheduled": RecoveryEvent;
  "chat:recovery:completed": RecoveryEvent;
  "chat:recovery:skipped": RecoveryEvent & { readonly reason?: string | undefined };
  "chat:recovery:failed": RecoveryEvent & { readonly reason?: string | undefined };
  "chat:recovery:exhausted": RecoveryEvent & { readonly reason: string; readonly terminalMessage: string };
  /** A model's stream said nothing for too long. */
  "chat:stream:stalled": { readonly requestId: string; readonly timeoutMs: number };
  "chat:onstart:degraded": { readonly step: string; readonly error: string };
  /** A compaction was tried. The figures come with `manual` and `auto`; `requestId` and `attempt` (from 1) only with `reactive`. */
  "chat:context:compacted": {
    readonly reason: "manual" | "auto" | "reactive" | "proactive";
    readonly shortened: boolean;
    readonly compactionId?: string | null;
    readonly messagesBefore?: number;
    readonly messagesAfter?: number;
    readonly replaced?: number;
    readonly tokensBefore?: number;
    readonly tokensAfter?: number;
    readonly requestId?: string | undefined;
    readonly attempt?: number | undefined;
  };
  "chat:hydration:windowed": {
    readonly totalContentBytes: number;
    readonly budgetBytes: number;
    readonly hydratedMessages: number;
  };
  "chat:media:evicted": {
    readonly messages: number;
    readonly parts: number;
    readonly bytes: number;
    readonly externalizedBytes: number;
  };
}

export type ChatEventType = keyof ChatEvents;

/** Emits one event; never throws. */
export type Emit = <Type extends ChatEventType>(type: Type, payload: ChatEvents[Type]) => void;
