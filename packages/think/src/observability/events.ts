/**
 * Every event the chat emits, with its payload. They go to the agent's observability sink; `chat:*` arrive on the
 * channel `agents:chat`, `message:*` on `agents:message`, `chat:transcript:*` on `agents:transcript`.
 */

/** Where in its life a request failed. */
export type ChatErrorStage = "parse" | "persist" | "turn" | "stream" | "recovery" | "transcript";

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
  "chat:onstart:degraded": { readonly step: string; readonly error: string };
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
