/**
 * Stored messages -> model messages, remembered per message: of a long conversation only what is new is converted in a turn. Used by the
 * loop; the SDK's own function does the converting.
 *
 * I1. The result is that of converting the whole list at once. The SDK looks at one message at a time once incomplete calls are left
 *     out, apart from `toModelOutput` of the tools of the turn: messages with such an output are converted each time.
 * I2. A message object is not changed once it is stored (`session/message-path.ts` replaces it), so its identity names its content.
 * I3. Callers get copies as deep as the SDK makes them anew: an author may change the list that `beforeTurn` is shown.
 */
import type { ModelMessage, ToolSet, UIMessage } from "ai";

/** Converts a list; the SDK's function with our settings. */
export type Convert = (messages: readonly UIMessage[], tools: ToolSet) => Promise<ModelMessage[]>;

const remembered = new WeakMap<UIMessage, readonly ModelMessage[]>();

export async function convertIncrementally(
  messages: readonly UIMessage[],
  tools: ToolSet,
  convert: Convert
): Promise<ModelMessage[]> {
  const converted: ModelMessage[] = [];
  for (const message of messages) {
    const isFree = !dependsOn(message, tools);
    const own = (isFree && remembered.get(message)) || (await convert([message], tools));
    if (isFree) remembered.set(message, own);
    for (const one of own) converted.push(copyOf(one));
  }
  return converted;
}

/** Whether a tool of this turn decides what the model sees of an output in the message. */
function dependsOn(message: UIMessage, tools: ToolSet): boolean {
  return message.parts.some((part) => {
    const name = "toolName" in part ? part.toolName : part.type.slice("tool-".length);
    return Object.hasOwn(tools, name) && tools[name]?.toModelOutput !== undefined;
  });
}

/** Parts and outputs are new objects for each conversion; inputs and metadata are those of the stored message in any case. */
function copyOf(message: ModelMessage): ModelMessage {
  if (typeof message.content === "string") return { ...message };
  const content = message.content.map((part) =>
    "output" in part ? { ...part, output: { ...part.output } } : { ...part }
  );
  return { ...message, content } as ModelMessage;
}
