/**
 * `ToolBridge`: what a parent shares with its children, as an RPC target. The author returns it from a method that children call:
 * `async toolBridge() { return this.bridge; }`. Do not mark that method callable: clients would reach the tools too.
 */
import { RpcTarget } from "cloudflare:workers";
import { errorText } from "../shared/errors/error-text";
import { ThinkError } from "../shared/errors/think-error";
import { ORCHESTRATOR_LIMITS } from "../shared/limits";
import { systemClock } from "../shared/system";
import type { WorkspaceLike } from "../workspace/workspace-like";
import {
  failure,
  type BridgeCall,
  type BridgeOffer,
  type FileOperation,
  type FileReply
} from "./bridge-protocol";
import { runFileOperation } from "./file-operations";
import { restrictWorkspace, type WorkspaceRestriction } from "./restrict-workspace";
import { describeTools, sharedTools, type ToolSource } from "./shared-tools";
import { ToolCalls } from "./tool-calls";

/** Files that children may use. */
export interface SharedFiles extends WorkspaceRestriction {
  /** The workspace, or a function that returns it: `() => this.workspace`. */
  readonly files: WorkspaceLike | (() => WorkspaceLike);
}

export interface ToolBridgeOptions {
  /** The tools that children may call, under the names they see; a function is asked for each use. Default: none. */
  readonly tools?: ToolSource;
  /** The files that children may use; read-only unless it says otherwise. Default: none. */
  readonly workspace?: SharedFiles;
  /** Time of one call, in ms. Default: 60,000. */
  readonly callTimeoutMs?: number;
  /** Largest result of one call, in UTF-16 code units of its JSON. Default: 512,000. */
  readonly resultChars?: number;
  /** Calls that run at once, of all children together. Default: 64. */
  readonly concurrentCalls?: number;
}

/** The parent's end of a bridge. Shares nothing that is not listed. Make one and keep it: its limits count over all children. */
export class ToolBridge extends RpcTarget {
  readonly #source: ToolSource | undefined;
  readonly #calls: ToolCalls;
  readonly #callTimeoutMs: number;
  readonly #workspace: SharedFiles | undefined;
  #restricted: { readonly of: WorkspaceLike; readonly files: WorkspaceLike } | undefined;

  constructor(options: ToolBridgeOptions = {}) {
    super();
    const { callTimeoutMs, resultChars, concurrentCalls } = { ...ORCHESTRATOR_LIMITS, ...options };
    for (const [name, value] of Object.entries({ callTimeoutMs, resultChars, concurrentCalls })) {
      if (!Number.isFinite(value) || value <= 0) throw badLimit(name, value);
    }
    this.#source = options.tools;
    this.#workspace = options.workspace;
    this.#callTimeoutMs = callTimeoutMs;
    this.#calls = new ToolCalls({
      source: options.tools,
      limits: { callTimeoutMs, resultChars, concurrentCalls },
      clock: systemClock
    });
  }

  /** The shared tools, as JSON. */
  async describe(): Promise<string> {
    try {
      const tools = await describeTools(await sharedTools(this.#source));
      const offer: BridgeOffer = { tools, callTimeoutMs: this.#callTimeoutMs };
      return JSON.stringify({ ok: true, output: offer });
    } catch (error) {
      return JSON.stringify(failure("invalid-option", errorText(error)));
    }
  }

  /** Runs one shared tool. The answer, a failure included, is JSON. */
  async call(call: BridgeCall): Promise<string> {
    return this.#calls.run({ callId: call.callId, tool: call.tool, input: call.input });
  }

  /** Stops a call; an id that is not running is no error. */
  async abort(callId: string): Promise<void> {
    this.#calls.abort(callId);
  }

  /** Runs one operation on the shared files. */
  async file(operation: FileOperation): Promise<FileReply> {
    return runFileOperation(this.#files(), operation);
  }

  /** One restricted workspace per workspace, because the tools serialise changes per object. */
  #files(): WorkspaceLike | undefined {
    if (!this.#workspace) return undefined;
    const { files } = this.#workspace;
    const of = typeof files === "function" ? files() : files;
    if (this.#restricted?.of !== of) this.#restricted = { of, files: restrictWorkspace(of, this.#workspace) };
    return this.#restricted.files;
  }
}

function badLimit(name: string, value: unknown): ThinkError {
  return new ThinkError(
    `ToolBridge got ${name}: ${String(value)}. Give a number above zero, or leave it out.`,
    {
      code: "invalid-option"
    }
  );
}
