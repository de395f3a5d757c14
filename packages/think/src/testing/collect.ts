/**
 * Folds the stream of a scripted call into the whole answer `generateText` asks for. Called by the
 * scripted model only.
 */
import type { ModelContent, ModelGenerateResult, ModelStreamPart } from "./model-types";

/** Reads the stream to its end; an error inside the stream is thrown, since a whole answer cannot carry one. */
export async function collect(parts: AsyncGenerator<ModelStreamPart, void>): Promise<ModelGenerateResult> {
  const content: ModelContent[] = [];
  for await (const part of parts) {
    switch (part.type) {
      case "text-start":
        content.push({ type: "text", text: "" });
        break;
      case "reasoning-start":
        content.push({ type: "reasoning", text: "" });
        break;
      case "text-delta":
      case "reasoning-delta": {
        const last = content.at(-1);
        if (last?.type === "text" || last?.type === "reasoning") last.text += part.delta;
        break;
      }
      case "tool-call":
      case "tool-result":
      case "source":
      case "file":
      case "tool-approval-request":
        content.push(part);
        break;
      case "error":
        throw part.error;
      case "finish":
        return { content, finishReason: part.finishReason, usage: part.usage, warnings: [] };
      default:
        break;
    }
  }
  throw new Error("The scripted model was cut off before it finished. Remove cutOff() or stream the answer.");
}
