/**
 * What the model sees of a `read` result. Also runs when stored history is replayed, so it copes with results of older
 * code and results that were shortened; the bytes of images and PDFs are read again from the storage each time.
 */
import { isRecord } from "../../shared/json";
import { errorText } from "../../shared/errors/error-text";
import { parsePath } from "../../workspace/paths";
import { mediaPart } from "./ai-sdk";
import { formatSize } from "./format";
import { WORKSPACE_TOOL_LIMITS } from "../../shared/limits";
import type { ReadOperations } from "./operations";
import type { ModelOutput } from "./tool-shape";

export async function readModelOutput(
  ops: ReadOperations,
  input: unknown,
  output: unknown
): Promise<ModelOutput> {
  if (!isRecord(output)) return { type: "text", value: String(output) };
  if (typeof output.error === "string") return { type: "error-text", value: output.error };
  if (typeof output.content === "string") return { type: "text", value: output.content };
  const path = isRecord(input) ? input.path : undefined;
  if ((output.kind !== "image" && output.kind !== "file") || typeof path !== "string") return asJson(output);
  try {
    return await mediaOutput(ops, path, output.kind, output);
  } catch (error) {
    return { type: "error-text", value: `Could not read file bytes of ${path}: ${errorText(error)}` };
  }
}

async function mediaOutput(
  ops: ReadOperations,
  path: string,
  kind: "image" | "file",
  output: Record<string, unknown>
): Promise<ModelOutput> {
  const parsed = parsePath(path);
  if (!parsed.ok) return { type: "error-text", value: parsed.error };
  const mediaType = typeof output.mediaType === "string" ? output.mediaType : "application/octet-stream";
  const tooLarge = (bytes: number): ModelOutput => ({
    type: "error-text",
    value: `${path} (${mediaType}, ${formatSize(bytes)}) exceeds the inline model output limit of ${formatSize(WORKSPACE_TOOL_LIMITS.inlineMediaBytes)}; use a smaller version.`
  });
  // The recorded size spares loading a file that would be refused anyway.
  if (typeof output.sizeBytes === "number" && output.sizeBytes > WORKSPACE_TOOL_LIMITS.inlineMediaBytes) {
    return tooLarge(output.sizeBytes);
  }
  const bytes = await ops.readFileBytes(parsed.path);
  if (bytes === null)
    return { type: "error-text", value: `Could not read file bytes of ${path}: it no longer exists.` };
  if (bytes.byteLength > WORKSPACE_TOOL_LIMITS.inlineMediaBytes) return tooLarge(bytes.byteLength);
  const filename = typeof output.name === "string" ? output.name : path;
  return {
    type: "content",
    value: [
      { type: "text", text: `${path} (${mediaType}, ${formatSize(bytes.byteLength)})` },
      mediaPart({ kind, data: toBase64(bytes), mediaType, filename })
    ]
  };
}

function asJson(value: Record<string, unknown>): ModelOutput {
  try {
    return { type: "json", value: JSON.parse(JSON.stringify(value)) };
  } catch (error) {
    return { type: "json", value: `A result that is not JSON (${errorText(error)})` };
  }
}

/** In pieces: spreading megabytes into one call overflows the stack. */
function toBase64(bytes: Uint8Array): string {
  const piece = 0x8000;
  let binary = "";
  for (let index = 0; index < bytes.byteLength; index += piece) {
    binary += String.fromCharCode(...bytes.subarray(index, index + piece));
  }
  return btoa(binary);
}
