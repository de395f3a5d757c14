/**
 * Who wants an `execute` tool, in the three forms that callers use: an options object with `ctx`, one without, or the agent itself.
 */
import type { CodemodeConnector, Executor } from "@cloudflare/codemode";
import { createWorkspaceStateBackend, type StateBackend, type WorkspaceFsLike } from "@cloudflare/shell";
import type { ToolSet } from "ai";
import { agentScope } from "../../shared/agent-scope";
import { ThinkError } from "../../shared/errors/think-error";
import { isRecord } from "../../shared/json";
import type { BrowserNamespace } from "./browser-namespace";
import type { ExecuteProvider } from "./connectors";
import type { ExecutePackages } from "./packages";

export interface ExecuteOptions {
  /** AI SDK tools that code may call as `tools.<name>`. Those that need approval pause the run. */
  readonly tools?: ToolSet;
  /** A Worker Loader binding: code runs in an isolate of its own. */
  readonly loader?: WorkerLoader;
  /** Another sandbox in place of `loader`. */
  readonly executor?: Executor;
  /** The Durable Object that keeps paused runs. Default: the agent whose `getTools()` is running; without one nothing can pause. */
  readonly ctx?: DurableObjectState;
  /** Files for `state.*`. */
  readonly state?: StateBackend;
  /** A Browser Rendering binding for `cdp.*`; only where runs can pause. Default with an agent: its `BROWSER`, if bound. */
  readonly browser?: BrowserNamespace["browser"];
  /** How long a browser is kept. Default: `{ mode: "dynamic" }`. */
  readonly session?: BrowserNamespace["session"];
  /** Further namespaces of tools. */
  readonly providers?: readonly ExecuteProvider[];
  /** Further namespaces as codemode connectors; only where runs can pause. */
  readonly connectors?: readonly CodemodeConnector[];
  /** Time limit of one pass in ms. Default: 30,000. */
  readonly timeout?: number;
  /** Where requests of the code go. Default: null, no network. */
  readonly globalOutbound?: Fetcher | null;
  /** Packages that code may import; also allows TypeScript. Default: none. */
  readonly packages?: ExecutePackages;
  /** The npm registry that packages come from. Default: the public one. */
  readonly registry?: string;
  /** Replaces the generated description. */
  readonly description?: string;
  /** Name of the history of runs and snippets. Default: `execute`. */
  readonly name?: string;
}

/** An agent: a `Think` or any other `Agent`. Its bindings and its workspace are used. */
export interface ExecuteAgent {
  readonly name: string;
  readonly workspace?: unknown;
}

/** The options with everything found that could be. */
export interface ResolvedExecute extends ExecuteOptions {
  readonly ctx?: DurableObjectState;
  /** Takes the runtime, so that approvals find it. */
  readonly adopt: (runtime: unknown) => void;
}

const FILE_METHODS = [
  "readFile",
  "readFileBytes",
  "writeFile",
  "writeFileBytes",
  "appendFile",
  "exists",
  "stat",
  "lstat",
  "mkdir",
  "readDir",
  "rm",
  "cp",
  "mv",
  "symlink",
  "readlink",
  "glob"
] as const;

export function resolveExecute(
  source: ExecuteOptions | ExecuteAgent,
  overrides: ExecuteOptions = {}
): ResolvedExecute {
  return isAgent(source) ? fromAgent(source, overrides) : fromOptions({ ...source, ...overrides });
}

/** The members of an agent are protected to TypeScript only. */
type OpenAgent = ExecuteAgent & {
  readonly env: Readonly<Record<string, unknown>>;
  readonly ctx?: DurableObjectState;
  codemode?: unknown;
};

function isAgent(source: ExecuteOptions | ExecuteAgent): source is OpenAgent {
  return "env" in source && isRecord(source.env) && !("executor" in source) && !("loader" in source);
}

function fromAgent(agent: OpenAgent, overrides: ExecuteOptions): ResolvedExecute {
  const { ctx, env } = agent;
  if (!ctx)
    throw misconfigured(
      "The agent has no ctx. Call createExecuteTool(this) from a method of a Durable Object, or pass { ctx, loader, tools }."
    );
  const loader = overrides.loader ?? (isLoader(env.LOADER) ? env.LOADER : undefined);
  if (!loader && !overrides.executor)
    throw misconfigured(
      'The agent has no LOADER binding. Add "worker_loaders": [{ "binding": "LOADER" }] to the Wrangler configuration, or pass { loader }.'
    );
  return {
    ctx,
    ...(isFileSystem(agent.workspace) ? { state: createWorkspaceStateBackend(agent.workspace) } : {}),
    ...(isBrowser(env.BROWSER) ? { browser: env.BROWSER } : {}),
    ...overrides,
    ...(loader ? { loader } : {}),
    adopt: (runtime) => void (agent.codemode = runtime)
  };
}

function fromOptions(options: ExecuteOptions): ResolvedExecute {
  if (!options.loader && !options.executor)
    throw misconfigured("createExecuteTool needs an executor or a loader. Pass { loader: this.env.LOADER }.");
  const scope = agentScope();
  const ctx = options.ctx ?? (scope && canPause(scope.ctx) ? scope.ctx : undefined);
  return {
    ...options,
    ...(ctx ? { ctx } : {}),
    adopt: (runtime) => void (ctx !== undefined && scope?.ctx === ctx && scope.adopt(runtime))
  };
}

/** Whether the Worker exports the class that keeps paused runs. */
function canPause(ctx: DurableObjectState): boolean {
  const exported: unknown = "exports" in ctx ? ctx.exports : undefined;
  if (typeof exported !== "object" || exported === null || !("CodemodeRuntime" in exported)) {
    console.warn(
      '[Think] Code runs without approvals and history: export { CodemodeRuntime } from "@cloudflare/codemode" in the Worker\'s entry.'
    );
    return false;
  }
  return true;
}

export function misconfigured(message: string): ThinkError {
  return new ThinkError(message, { code: "execute-misconfigured" });
}

function isLoader(value: unknown): value is WorkerLoader {
  return typeof value === "object" && value !== null && "load" in value;
}

function isBrowser(value: unknown): value is NonNullable<BrowserNamespace["browser"]> {
  return typeof value === "object" && value !== null && "fetch" in value;
}

function isFileSystem(value: unknown): value is WorkspaceFsLike {
  if (typeof value !== "object" || value === null) return false;
  const files: Readonly<Record<string, unknown>> = Object(value);
  return FILE_METHODS.every((method) => typeof files[method] === "function");
}
