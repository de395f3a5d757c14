/** The `bash` tool: a script on a mount of the workspace, whose changes are written back. */
import { z } from "zod";
import { MountFileSystem } from "../../workspace/mount/mount-file-system";
import type { MountSource } from "../../workspace/mount/mount-source";
import { MountTree } from "../../workspace/mount/mount-tree";
import { shellRoots, writeBack, type ChangedFiles } from "../../workspace/mount/write-back";
import { isWithin, parsePath } from "../../workspace/paths";
import { runShell, type BashNetwork, type ShellResult, type Trusted } from "./bash-shell";
import { formatSize } from "./format";
import { WORKSPACE_TOOL_LIMITS } from "../../shared/limits";
import type { BashOperations } from "./operations";
import { serially } from "./serial";
import type { ToolFailure, WorkspaceTool } from "./tool-shape";

export interface BashInput {
  readonly script: string;
  /** Default: `/`. */
  readonly cwd?: string | undefined;
}

export interface BashLimits {
  /** Run time in ms. Default: 30,000. */
  readonly timeout?: number;
  /** What scripts may reach. Default: false, nothing. */
  readonly network?: BashNetwork;
  /** Workspace files that one script may use. Default: 1,000. */
  readonly maxWorkspaceFiles?: number;
  /** Bytes of one workspace file that a script may use. Default: 1,000,000. */
  readonly maxWorkspaceFileBytes?: number;
  /** UTF-8 bytes of stdout, and of stderr, that are returned. Default: 64,000. */
  readonly maxOutputBytes?: number;
}

/** Options of `createBashTool`. */
export interface BashToolOptions extends BashLimits {
  readonly ops: BashOperations;
}

export type BashOutput =
  | {
      readonly stdout: string;
      readonly stderr: string;
      readonly exitCode: number;
      readonly changedFiles: ChangedFiles;
      /** Workspace files that the script came across but could not use; they are protected from changes. */
      readonly skippedFiles?: readonly string[];
      /** What could not be written back, and why. */
      readonly errors?: readonly string[];
    }
  | ToolFailure;

const limits = WORKSPACE_TOOL_LIMITS;

const inputSchema = z.object({
  script: z.string().describe("The bash script"),
  cwd: z.string().optional().describe("Absolute path of the directory to run in, / when left out")
});

const description =
  "Run a bash script in a sandbox with the usual text tools (grep, sed, awk, sort, jq, tar, ...). The workspace is mounted " +
  "at /; there is no home directory and no other mount, so use absolute paths. Changes to files are written back when the " +
  "script ends, also when it fails; new files in /tmp are scratch and are not kept.";

/** Creates the `bash` tool on any storage. `just-bash` is loaded when the first script runs. */
export function createBashTool(options: BashToolOptions): WorkspaceTool<BashInput, BashOutput> {
  return {
    description,
    inputSchema,
    execute: async (input, call) => {
      const cwd = parsePath(input.cwd ?? "/");
      if (!cwd.ok) return { error: cwd.error };
      if (input.script.length > limits.bashScriptChars) {
        return {
          error: `The script is longer than ${limits.bashScriptChars} characters; put data into files.`
        };
      }
      return await serially(options.ops, () => run(options, input.script, cwd.path, call?.abortSignal));
    }
  };
}

async function run(
  options: BashToolOptions,
  script: string,
  cwd: string,
  signal: AbortSignal | undefined
): Promise<BashOutput> {
  const { ops } = options;
  // The mount outlives the shell: while a script runs its calls must step out of the hardening, afterwards not.
  let call: Trusted = (action) => action();
  const tree = new MountTree(
    sourceOf(ops, (action) => call(action)),
    {
      maxFiles: options.maxWorkspaceFiles ?? limits.bashFiles,
      maxFileBytes: options.maxWorkspaceFileBytes ?? limits.bashFileBytes
    }
  );
  const fileSystem = new MountFileSystem(tree);
  fileSystem.mkdirSync("/tmp");
  // The shell's own directories are not there yet; everything else must be.
  if (!shellRoots.some((root) => isWithin(root, cwd)) && !(await isDirectory(tree, cwd))) {
    return {
      error: `The directory ${cwd} does not exist; choose another cwd, or leave it out to start in /.`
    };
  }
  const result = await runShell({
    script,
    cwd,
    network: options.network ?? false,
    timeout: options.timeout ?? limits.bashTimeoutMs,
    signal,
    fileSystem: (trusted) => {
      call = trusted;
      return fileSystem;
    },
    stopped: () => tree.freeze()
  });
  call = (action) => action();
  if (result.interrupted) {
    for (const path of tree.undoTruncations()) {
      tree.refusals.add(
        `Kept the old content of ${path}: the script was stopped before it wrote the new one.`
      );
    }
  }
  const { changes, errors } = await writeBack(tree, ops);
  return toOutput(
    result,
    { changes, errors, skipped: [...tree.skipped] },
    options.maxOutputBytes ?? limits.bashOutputBytes
  );
}

async function isDirectory(tree: MountTree, path: string): Promise<boolean> {
  const place = await tree.walk(path, true).catch(() => undefined);
  return place?.node?.kind === "directory";
}

function sourceOf(ops: BashOperations, call: Trusted): MountSource {
  const { lstat, readWholeDir } = ops;
  return {
    readDir: (path, page) => call(async () => await ops.readDir(path, page)),
    readFileBytes: (path) => call(() => ops.readFileBytes(path)),
    ...(lstat === undefined ? {} : { lstat: (path) => call(async () => await lstat.call(ops, path)) }),
    ...(readWholeDir === undefined
      ? {}
      : { readWholeDir: (path, limit) => call(async () => await readWholeDir.call(ops, path, limit)) })
  };
}

interface Effects {
  readonly changes: ChangedFiles;
  readonly errors: readonly string[];
  readonly skipped: readonly string[];
}

function toOutput(result: ShellResult, effects: Effects, maxBytes: number): BashOutput {
  const { changes } = effects;
  const errors = [...effects.errors];
  const listed = (paths: readonly string[], what: string): readonly string[] => {
    if (paths.length > limits.bashListedPaths) {
      errors.push(`Only the first ${limits.bashListedPaths} of ${paths.length} ${what} are listed.`);
    }
    return paths.slice(0, limits.bashListedPaths);
  };
  const changedFiles = {
    created: listed(changes.created, "created files"),
    updated: listed(changes.updated, "updated files"),
    deleted: listed(changes.deleted, "deleted files"),
    directoriesCreated: listed(changes.directoriesCreated, "created directories"),
    directoriesDeleted: listed(changes.directoriesDeleted, "deleted directories")
  };
  const skippedFiles = listed(effects.skipped.toSorted(), "skipped files");
  return {
    stdout: cutOutput(result.stdout, maxBytes),
    stderr: cutOutput(result.stderr, maxBytes),
    exitCode: result.exitCode,
    changedFiles,
    ...(skippedFiles.length === 0 ? {} : { skippedFiles }),
    ...(errors.length === 0 ? {} : { errors: errors.slice(0, limits.bashListedPaths) })
  };
}

/** Cuts at a UTF-8 byte count, between characters. */
function cutOutput(text: string, maxBytes: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.byteLength <= maxBytes) return text;
  // Streaming mode holds back a character whose bytes are incomplete.
  const kept = new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: true });
  return `${kept}\n... (truncated, ${formatSize(bytes.byteLength - maxBytes)} cut off)`;
}
