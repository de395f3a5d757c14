/**
 * What crosses between a parent's `ToolBridge` and a child's `ParentBridge`. Everything is text, so that no function and no stub can cross
 * with it, and so that nothing has to be disposed; the bytes of files are the one exception.
 */
import type { ThinkErrorCode } from "../shared/errors/think-error";
import { isRecord, parseJson } from "../shared/json";
import type { ReadDirOptions, RemoveOptions } from "../workspace/workspace-like";

/** A tool as a child sees it. */
export interface SharedTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input. */
  readonly inputSchema: Record<string, unknown>;
}

/** What a bridge offers. */
export interface BridgeOffer {
  readonly tools: readonly SharedTool[];
  /** Time that the parent gives one call, in ms. */
  readonly callTimeoutMs: number;
}

/** Why the parent did not give a result. */
export type BridgeFailureCode = Extract<
  ThinkErrorCode,
  | "tool-not-shared"
  | "tool-input-invalid"
  | "tool-failed"
  | "tool-timeout"
  | "tool-aborted"
  | "tool-result-too-large"
  | "bridge-busy"
  | "invalid-option"
>;

export type BridgeAnswer =
  | { readonly ok: true; readonly output: unknown }
  | { readonly ok: false; readonly code: BridgeFailureCode; readonly message: string };

/** One call of a shared tool. */
export interface BridgeCall {
  /** Made by the child; `abort` names it. */
  readonly callId: string;
  readonly tool: string;
  /** The input as JSON. */
  readonly input: string;
}

/** One operation on shared files. Text and bytes stay what they are; everything else comes back as JSON. */
export type FileOperation =
  | { readonly kind: "readFile"; readonly path: string }
  | { readonly kind: "readFileBytes"; readonly path: string }
  | {
      readonly kind: "writeFile";
      readonly path: string;
      readonly content: string;
      readonly mimeType?: string;
    }
  | {
      readonly kind: "writeFileBytes";
      readonly path: string;
      readonly content: Uint8Array;
      readonly mimeType?: string;
    }
  | { readonly kind: "readDir"; readonly path: string; readonly options: ReadDirOptions }
  | { readonly kind: "glob"; readonly pattern: string }
  | { readonly kind: "stat"; readonly path: string }
  | { readonly kind: "lstat"; readonly path: string }
  | { readonly kind: "mkdir"; readonly path: string; readonly recursive: boolean }
  | { readonly kind: "rm"; readonly path: string; readonly options: RemoveOptions };

/** The content of a file, the JSON of a `BridgeAnswer`, or null for a file that is not there. */
export type FileReply =
  | { readonly kind: "content"; readonly content: string | Uint8Array | null }
  | { readonly kind: "answer"; readonly answer: string };

/** The parent's bridge as a child holds it: a stub of `ToolBridge`. */
export interface RemoteToolBridge {
  /** JSON of a `BridgeOffer`. */
  describe(): Promise<string>;
  /** JSON of a `BridgeAnswer`. */
  call(call: BridgeCall): Promise<string>;
  abort(callId: string): Promise<void>;
  file(operation: FileOperation): Promise<FileReply>;
}

/** Reads what a parent answered. The parent is ours, but a result is not: it is parsed like anything from outside. */
export function parseAnswer(text: string): BridgeAnswer {
  const parsed = parseJson(text);
  if (!parsed.ok) return failure("tool-failed", `The parent's answer ${parsed.reason}.`);
  const { value } = parsed;
  if (!isRecord(value)) return failure("tool-failed", "The parent's answer is no object.");
  if (value.ok === true) return { ok: true, output: value.output ?? null };
  return failure(value.code as BridgeFailureCode, String(value.message));
}

export function failure(code: BridgeFailureCode, message: string): BridgeAnswer {
  return { ok: false, code, message };
}
