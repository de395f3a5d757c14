/**
 * Runs one script in `just-bash`. The package is large, so it is only imported when a script runs. Nothing here knows the
 * workspace: the script works on the file system it is given.
 */
import type * as JustBash from "just-bash";
import type { IFileSystem, NetworkConfig } from "just-bash";
import { errorText } from "../../shared/errors/error-text";
import { WORKSPACE_TOOL_LIMITS } from "../../shared/limits";

/**
 * What a script may reach: nothing (`false`), everything (`true`), the listed URL prefixes (GET and HEAD), or a network
 * configuration of just-bash.
 */
export type BashNetwork = boolean | readonly string[] | NetworkConfig;

export interface ShellRun {
  readonly script: string;
  readonly cwd: string;
  readonly network: BashNetwork;
  /** In ms. */
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
  /** Makes the file system; `trusted` must wrap every call that leaves the shell. */
  readonly fileSystem: (trusted: Trusted) => IFileSystem;
  /** Called once the script must not change anything any more. */
  readonly stopped: () => void;
}

/** Runs host code from inside the shell, whose hardening would otherwise block timers and the like. */
export type Trusted = <T>(action: () => Promise<T>) => Promise<T>;

export interface ShellResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  /** Whether the script did not come to its own end. */
  readonly interrupted: boolean;
}

/** Bundlers for Workers take the package's browser build, which has no hardening to step out of. */
type Shell = Pick<typeof JustBash, "Bash"> & Partial<Pick<typeof JustBash, "DefenseInDepthBox">>;

/** Exit codes of `timeout(1)` and of an interrupted shell. */
const TIMED_OUT = 124;
const INTERRUPTED = 130;
/** What the shell answers when one of its own limits ends a script. */
const LIMIT_REACHED = 126;

/** Tighter than the shell's own: all of it lives in one 128 MB isolate, which other requests may share. */
const executionLimits = {
  maxCommandCount: 100_000,
  maxLoopIterations: 100_000,
  maxOutputSize: 8 * 1024 * 1024,
  maxStringLength: 8 * 1024 * 1024,
  maxHeredocSize: 8 * 1024 * 1024,
  maxLiveBytes: 32 * 1024 * 1024,
  maxArchiveBytes: 32 * 1024 * 1024,
  maxArchiveEntryBytes: 8 * 1024 * 1024,
  maxSourceBytes: 1024 * 1024,
  maxBraceExpansionResults: 10_000,
  maxArrayElements: 100_000
};

/**
 * The shell's check of private addresses pins the connection to an address it resolved, which a Worker cannot do: with it every host
 * name is refused. The platform's `fetch` does not reach private networks.
 */
const NO_ADDRESS_CHECK = { denyPrivateRanges: false } as const;

export async function runShell(run: ShellRun): Promise<ShellResult> {
  const shell: Shell = await import("just-bash");
  const { Bash, DefenseInDepthBox } = shell;
  const stop = new AbortController();
  const deadline = watch(run, stop);
  try {
    const network = networkConfig(run.network);
    const bash = new Bash({
      fs: run.fileSystem((action) => DefenseInDepthBox?.runTrustedAsync(action) ?? action()),
      cwd: run.cwd,
      defenseInDepth: true,
      executionLimitProfile: "hardened",
      executionLimits: {
        ...executionLimits,
        maxExecutionTimeMs: run.timeout + WORKSPACE_TOOL_LIMITS.bashGraceMs
      },
      ...(network === undefined ? {} : { network })
    });
    const finished = bash.exec(run.script, { cwd: run.cwd, rawScript: true, signal: stop.signal });
    // A command that ignores the signal must not keep the turn waiting.
    const result = await Promise.race([finished, deadline.overdue]);
    return result === undefined ? deadline.explain("", "") : withReason(result, deadline);
  } catch (error) {
    if (deadline.explanation() === undefined) {
      return { stdout: "", stderr: errorText(error), exitCode: 1, interrupted: true };
    }
    return deadline.explain("", errorText(error));
  } finally {
    deadline.clear();
    run.stopped();
  }
}

function withReason(result: Omit<ShellResult, "interrupted">, deadline: Deadline): ShellResult {
  const { stdout, stderr, exitCode } = result;
  return deadline.explanation() === undefined || exitCode === 0
    ? {
        stdout,
        stderr,
        exitCode,
        interrupted: exitCode === LIMIT_REACHED && /executionLimits|limit|exceeded/.test(stderr)
      }
    : deadline.explain(stdout, stderr);
}

interface Deadline {
  /** Resolves when the script was stopped and did not end in time. */
  readonly overdue: Promise<undefined>;
  /** Why the script was stopped, if it was. */
  explanation(): string | undefined;
  explain(stdout: string, stderr: string): ShellResult;
  clear(): void;
}

/** Stops the script at its time-out or when the call is aborted, whichever is first. */
function watch(run: ShellRun, stop: AbortController): Deadline {
  let reason: { readonly text: string; readonly exitCode: number } | undefined;
  let grace: ReturnType<typeof setTimeout> | undefined;
  const { promise: overdue, resolve } = Promise.withResolvers<undefined>();
  const end = (text: string, exitCode: number) => {
    if (reason !== undefined) return;
    reason = { text, exitCode };
    stop.abort();
    grace = setTimeout(() => resolve(undefined), WORKSPACE_TOOL_LIMITS.bashGraceMs);
  };
  const timer = setTimeout(
    () => end(`bash: stopped after ${run.timeout} ms (time-out)`, TIMED_OUT),
    run.timeout
  );
  const aborted = () => end("bash: stopped, because the turn was cancelled", INTERRUPTED);
  run.signal?.addEventListener("abort", aborted, { once: true });
  if (run.signal?.aborted === true) aborted();
  return {
    overdue,
    explanation: () => reason?.text,
    explain: (stdout, stderr) => ({
      stdout,
      stderr: [stderr.trimEnd(), reason?.text].filter(Boolean).join("\n"),
      exitCode: reason?.exitCode ?? 1,
      interrupted: true
    }),
    clear: () => {
      clearTimeout(timer);
      clearTimeout(grace);
      run.signal?.removeEventListener("abort", aborted);
    }
  };
}

function networkConfig(network: BashNetwork): NetworkConfig | undefined {
  if (network === false) return undefined;
  // Not an empty configuration: the shell reads that as an empty allow-list and denies every URL.
  if (network === true) return { dangerouslyAllowFullInternetAccess: true, ...NO_ADDRESS_CHECK };
  return { ...NO_ADDRESS_CHECK, ...("length" in network ? { allowedUrlPrefixes: [...network] } : network) };
}
