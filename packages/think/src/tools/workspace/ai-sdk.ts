/**
 * The only file of the workspace tools that needs the AI SDK at run time. One shape differs between its majors: how
 * a tool result carries an image or a PDF.
 */
import * as sdk from "ai";
import type { ModelOutput } from "./tool-shape";

type ContentPart = Extract<ModelOutput, { type: "content" }>["value"][number];

/** An image or a document for the model, in the shape that the installed AI SDK understands without a warning. */
export function mediaPart(media: {
  readonly kind: "image" | "file";
  /** Base64. */
  readonly data: string;
  readonly mediaType: string;
  readonly filename: string;
}): ContentPart {
  const { kind, data, mediaType, filename } = media;
  // Only version 7 has this export. A property access, unlike `in`, does not keep the whole SDK in the bundle.
  if (sdk.isStepCount !== undefined) {
    return {
      type: "file",
      data: { type: "data", data },
      mediaType,
      ...(kind === "file" ? { filename } : {})
    };
  }
  // An image sent as `file-data` would be routed as a document on version 6.
  return kind === "image"
    ? { type: "image-data", data, mediaType }
    : { type: "file-data", data, mediaType, filename };
}
