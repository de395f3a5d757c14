/** Tool input as an object: models and providers also emit JSON text, nothing at all, or worse. */
import { isRecord, parseJson } from "./json";

export function toolInput(input: unknown): Record<string, unknown> {
  if (isRecord(input)) return input;
  if (typeof input === "string" && input.startsWith("{")) {
    const parsed = parseJson(input);
    if (parsed.ok && isRecord(parsed.value)) return parsed.value;
  }
  return {};
}
