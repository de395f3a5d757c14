/** What `GET /api/model` tells the page about the model in use. Shared by server and client. */
export interface ModelInfo {
  readonly kind: "workers-ai" | "openai-compatible" | "offline";
  /** The model's name as shown on the page. */
  readonly label: string;
}

const KINDS: ReadonlySet<unknown> = new Set<ModelInfo["kind"]>([
  "workers-ai",
  "openai-compatible",
  "offline"
]);

/** True when an untrusted value has the shape of {@link ModelInfo}. */
export function isModelInfo(value: unknown): value is ModelInfo {
  return (
    typeof value === "object" &&
    value !== null &&
    "kind" in value &&
    KINDS.has(value.kind) &&
    "label" in value &&
    typeof value.label === "string"
  );
}
