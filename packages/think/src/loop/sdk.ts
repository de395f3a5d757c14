/**
 * Every call into the AI SDK. One source serves its majors 6 and 7; where they differ, the difference ends here.
 */
import {
  convertToModelMessages,
  stepCountIs,
  streamText,
  type LanguageModel,
  type ModelMessage,
  type ToolSet,
  type UIMessage,
  type UIMessageChunk
} from "ai";
import { errorText } from "../shared/errors/error-text";

export interface ModelCall {
  readonly model: LanguageModel;
  readonly system: string;
  readonly messages: ModelMessage[];
  readonly tools: ToolSet;
  readonly maxSteps: number;
  readonly sendReasoning: boolean;
  readonly signal: AbortSignal;
}

/** A running model call: its UI chunks, and the errors behind the error chunks. */
export interface ModelStream {
  readonly chunks: ReadableStream<UIMessageChunk>;
  /** What the provider threw, when the stream carries an error chunk. */
  failure(): unknown;
}

export function streamModel(call: ModelCall): ModelStream {
  let failure: unknown;
  const result = streamText({
    model: call.model,
    system: call.system,
    messages: call.messages,
    // Version 7 refuses system entries in the history unless told that they are meant.
    allowSystemInMessages: true,
    tools: call.tools,
    stopWhen: stepCountIs(call.maxSteps),
    abortSignal: call.signal,
    onError: ({ error }) => {
      failure = error;
    }
  });
  const chunks = result.toUIMessageStream({ sendReasoning: call.sendReasoning, onError: errorText });
  return { chunks, failure: () => failure };
}

/** Stored messages -> model messages. Tool calls that never settled are left out: providers refuse them. */
export function toModelMessages(messages: readonly UIMessage[], tools: ToolSet): Promise<ModelMessage[]> {
  return convertToModelMessages([...messages], { tools, ignoreIncompleteToolCalls: true });
}
