/**
 * The parent's files as a workspace of the child. Every operation is one call over the bridge; the parent decides what is allowed. Reads are
 * tried again when the parent was lost, changes are not: they may have happened.
 */
import { ThinkError } from "../shared/errors/think-error";
import { ORCHESTRATOR_LIMITS } from "../shared/limits";
import type { EntryInfo, ReadDirOptions, RemoveOptions, WorkspaceLike } from "../workspace/workspace-like";
import { dispose, type BridgeLine } from "./bridge-line";
import { parseAnswer, type FileOperation } from "./bridge-protocol";

export class RemoteWorkspace implements WorkspaceLike {
  readonly #line: BridgeLine;

  constructor(line: BridgeLine) {
    this.#line = line;
  }

  async readFile(path: string): Promise<string | null> {
    const content = await this.#read({ kind: "readFile", path });
    return typeof content === "string" ? content : null;
  }

  async readFileBytes(path: string): Promise<Uint8Array | null> {
    const content = await this.#read({ kind: "readFileBytes", path });
    return content instanceof Uint8Array ? content : null;
  }

  async writeFile(path: string, content: string, mimeType?: string): Promise<void> {
    await this.#change({ kind: "writeFile", path, content, ...(mimeType === undefined ? {} : { mimeType }) });
  }

  async writeFileBytes(path: string, content: Uint8Array, mimeType?: string): Promise<void> {
    await this.#change({
      ...{ kind: "writeFileBytes", path, content },
      ...(mimeType === undefined ? {} : { mimeType })
    });
  }

  async readDir(path = "/", options: ReadDirOptions = {}): Promise<EntryInfo[]> {
    return (await this.#read({ kind: "readDir", path, options })) as EntryInfo[];
  }

  async glob(pattern: string): Promise<EntryInfo[]> {
    return (await this.#read({ kind: "glob", pattern })) as EntryInfo[];
  }

  async stat(path: string): Promise<EntryInfo | null> {
    return (await this.#read({ kind: "stat", path })) as EntryInfo | null;
  }

  async lstat(path: string): Promise<EntryInfo | null> {
    return (await this.#read({ kind: "lstat", path })) as EntryInfo | null;
  }

  async mkdir(path: string, options: { readonly recursive?: boolean } = {}): Promise<void> {
    await this.#change({ kind: "mkdir", path, recursive: options.recursive === true });
  }

  async rm(path: string, options: RemoveOptions = {}): Promise<void> {
    await this.#change({ kind: "rm", path, options });
  }

  #read(operation: FileOperation): Promise<unknown> {
    return this.#run(operation, true);
  }

  #change(operation: FileOperation): Promise<unknown> {
    return this.#run(operation, false);
  }

  #run(operation: FileOperation, repeatable: boolean): Promise<unknown> {
    const what = `${operation.kind} of ${"path" in operation ? operation.path : operation.pattern}`;
    return this.#line.use(
      async (bridge) => {
        const reply = await bridge.file(operation);
        try {
          if (reply.kind === "content") return reply.content;
          const answer = parseAnswer(reply.answer);
          if (answer.ok) return answer.output;
          throw new ThinkError(answer.message, { code: answer.code });
        } finally {
          dispose(reply);
        }
      },
      { what, timeoutMs: ORCHESTRATOR_LIMITS.operationTimeoutMs, repeatable }
    );
  }
}
