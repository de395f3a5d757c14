/**
 * The executor behind `execute`: a sandbox that always answers. It runs codemode's executor with guarded code and guarded calls, and
 * stops waiting when the time is over, even for code that has broken its own clock.
 */
import type { ExecuteResult, Executor, ResolvedProvider } from "@cloudflare/codemode";
import { errorText } from "../../shared/errors/error-text";
import { EXECUTE_LIMITS } from "../../shared/limits";
import { CallGuard, type Methods } from "./guard-calls";
import { guardCode } from "./guard-code";
import { boundedLogs, boundedText } from "./outputs";

/** Starts a sandbox for one pass. */
export interface SandboxRun {
  readonly executor: Executor;
  /** Gives up on it. */
  end(): void;
}

export interface GuardedExecutorOptions {
  readonly start: () => SandboxRun | Promise<SandboxRun>;
  readonly timeoutMs: number;
  /** What may be called; asked once per pass. */
  readonly methods: () => Promise<Methods>;
}

type Execute = Executor["execute"];

export function guardedExecutor(options: GuardedExecutorOptions): Executor {
  return {
    async execute(code, providers, callOptions) {
      try {
        return bound(await run(options, code, providers, callOptions));
      } catch (error) {
        // For example an isolate that used up its memory or CPU time.
        return { result: undefined, error: boundedText(errorText(error), EXECUTE_LIMITS.errorChars) };
      }
    }
  };
}

async function run(
  options: GuardedExecutorOptions,
  code: string,
  providers: Parameters<Execute>[1],
  callOptions: Parameters<Execute>[2]
): Promise<ExecuteResult> {
  const guarded = guardCode(code, options.timeoutMs);
  if (!guarded.ok) return { result: undefined, error: guarded.error };
  const calls = new CallGuard(await options.methods());
  const list: ResolvedProvider[] = Array.isArray(providers)
    ? providers
    : [{ name: "codemode", fns: providers }];
  const sandbox = await options.start();
  const running = sandbox.executor.execute(
    guarded.code,
    list.map((provider) => calls.provider(provider)),
    { connectors: (callOptions?.connectors ?? []).map((connector) => calls.binding(connector)) }
  );
  return inTime(running, sandbox, options.timeoutMs);
}

async function inTime(
  running: Promise<ExecuteResult>,
  sandbox: SandboxRun,
  timeoutMs: number
): Promise<ExecuteResult> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<ExecuteResult>((resolve) => {
    timer = setTimeout(
      () => resolve({ result: undefined, error: "Execution timed out" }),
      timeoutMs + EXECUTE_LIMITS.graceMs
    );
  });
  // When the time is over nobody looks at it any more, and ending it rejects it.
  running.catch(() => undefined);
  try {
    return await Promise.race([running, late]);
  } finally {
    clearTimeout(timer);
    sandbox.end();
  }
}

/** What the sandbox answers is the code's word: any type, any size. */
function bound({ result, error, logs }: ExecuteResult): ExecuteResult {
  if (error === undefined) return { result, logs: boundedLogs(logs, EXECUTE_LIMITS.logChars) };
  const text = boundedText(error, EXECUTE_LIMITS.errorChars);
  return {
    result: undefined,
    error: text === "Execution timed out" ? `${text}; do less in one call.` : text,
    logs: boundedLogs(logs, EXECUTE_LIMITS.errorLogChars)
  };
}
