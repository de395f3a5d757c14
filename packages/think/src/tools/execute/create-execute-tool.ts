/**
 * The `execute` tool: the model writes code that calls tools, and the code runs in a sandbox. Called by authors from `getTools()`.
 */
import {
  createCodemodeRuntime,
  DynamicWorkerExecutor,
  type CodemodeConnector,
  type CodemodeRuntimeHandle,
  type Executor
} from "@cloudflare/codemode";
import { z, type ZodType } from "zod";
import { errorText } from "../../shared/errors/error-text";
import { isRecord } from "../../shared/json";
import { EXECUTE_LIMITS } from "../../shared/limits";
import { createConnectors, methodsOf, ownTools } from "./connectors";
import { checkNames, describeExecute } from "./describe";
import type { Methods } from "./guard-calls";
import { guardedExecutor, type SandboxRun } from "./guarded-executor";
import {
  misconfigured,
  resolveExecute,
  type ExecuteAgent,
  type ExecuteOptions,
  type ResolvedExecute
} from "./options";
import { boundedResult, jsonOf, toExecuteOutput, type ExecuteOutput } from "./outputs";
import { PackageShelf, toJavaScript } from "./packages";
import { passingProviders, passingTools, runPassing } from "./passing-tool";
import { sandboxLoader } from "./sandbox-loader";

export interface ExecuteInput {
  readonly code: string;
}

/** An AI SDK tool, spelled out because the SDK's own types differ between its majors. */
export interface ExecuteTool {
  readonly description: string;
  readonly inputSchema: ZodType<ExecuteInput>;
  execute(input: ExecuteInput, options?: unknown): Promise<ExecuteOutput>;
  toModelOutput(call: { readonly output: unknown }): { readonly type: "json"; readonly value: never };
}

export interface ExecuteRuntime {
  /** History, approvals and snippets. */
  readonly runtime: CodemodeRuntimeHandle;
  readonly connectors: readonly CodemodeConnector[];
  readonly tool: ExecuteTool;
}

/** Creates the tool. Give it options, or the agent and what should differ from the agent's own. */
export function createExecuteTool(
  source: ExecuteOptions | ExecuteAgent,
  overrides?: ExecuteOptions
): ExecuteTool {
  const options = resolveExecute(source, overrides);
  return options.ctx ? durable(options, options.ctx).tool : passing(options);
}

/** Like `createExecuteTool`, with the runtime that keeps the runs. Needs `ctx`. */
export function createExecuteRuntime(
  source: ExecuteOptions | ExecuteAgent,
  overrides?: ExecuteOptions
): ExecuteRuntime {
  const options = resolveExecute(source, overrides);
  if (!options.ctx)
    throw misconfigured("createExecuteRuntime needs the Durable Object's ctx. Pass { ctx: this.ctx }.");
  return durable(options, options.ctx);
}

function durable(options: ResolvedExecute, ctx: DurableObjectState): ExecuteRuntime {
  const tools = ownTools(options);
  checkNames(tools);
  const connectors = createConnectors(ctx, options);
  if (connectors.length === 0) throw nothingToExpose();
  const shelf = options.packages && new PackageShelf(options.packages, options.registry);
  const runtime = createCodemodeRuntime({
    ctx,
    executor: sandbox(options, shelf, methodsOf(connectors)),
    connectors,
    name: options.name ?? "execute",
    transformResult: boundedResult
  });
  options.adopt(runtime);
  const namespaces = connectors
    .map((connector) => connector.name())
    .filter((name) => name !== "tools" && name !== "state");
  const described = {
    ...{ tools, namespaces, durable: true },
    hasState: connectors.some((connector) => connector.name() === "state"),
    packages: shelf?.names
  };
  const tool = executeTool(options.description ?? describeExecute(described), async (code) =>
    toExecuteOutput(await runtime.execute({ code: shelf ? await toJavaScript(code) : code }))
  );
  return { runtime, connectors, tool };
}

function passing(options: ResolvedExecute): ExecuteTool {
  const tools = passingTools(options);
  checkNames(tools);
  const named = options.providers?.flatMap(({ name }) => (name === undefined ? [] : [name])) ?? [];
  if (Object.keys(tools).length === 0 && !options.state && named.length === 0) throw nothingToExpose();
  const shelf = options.packages && new PackageShelf(options.packages, options.registry);
  const providers = passingProviders(options);
  const executor = sandbox(options, shelf, async () => new Map());
  const description = describeExecute({
    ...{ tools, namespaces: named, durable: false },
    hasState: options.state !== undefined,
    packages: shelf?.names
  });
  return executeTool(options.description ?? description, async (code) =>
    runPassing(shelf ? await toJavaScript(code) : code, executor, providers)
  );
}

/** Whatever goes wrong is an answer, so that the model can react and the turn goes on. */
function executeTool(description: string, run: (code: string) => Promise<ExecuteOutput>): ExecuteTool {
  return {
    description,
    inputSchema: z.object({ code: z.string().describe("An async arrow function") }),
    async execute({ code }) {
      if (code.length > EXECUTE_LIMITS.codeChars)
        return failed(
          `The code is longer than ${EXECUTE_LIMITS.codeChars} characters; write data to a file and read it from the code.`
        );
      try {
        return await run(code);
      } catch (error) {
        console.error(`[Think] execute could not run: ${errorText(error)}`, error);
        return failed(errorText(error));
      }
    },
    toModelOutput: ({ output }) => ({ type: "json", value: modelValue(output) as never })
  };
}

/** Outputs of earlier versions may carry the runtime's whole log. */
function modelValue(output: unknown): unknown {
  if (!isRecord(output)) return JSON.parse(jsonOf(output));
  const { calls: _calls, ...rest } = output;
  return JSON.parse(jsonOf(rest));
}

const failed = (error: string): ExecuteOutput => toExecuteOutput({ status: "error", executionId: "", error });

const nothingToExpose = () =>
  misconfigured(
    "createExecuteTool has nothing to expose to the code. Pass tools with execute, a state backend, providers or connectors."
  );

function sandbox(
  options: ResolvedExecute,
  shelf: PackageShelf | undefined,
  methods: () => Promise<Methods>
): Executor {
  const timeoutMs = options.timeout ?? EXECUTE_LIMITS.timeoutMs;
  const { executor, loader } = options;
  const start = async (): Promise<SandboxRun> => {
    if (executor || !loader) return { executor: executor ?? NO_SANDBOX, end: () => undefined };
    const modules = (await shelf?.modules()) ?? {};
    const isolate = sandboxLoader(loader, { cpuMs: timeoutMs, modules, node: shelf !== undefined });
    return {
      executor: new DynamicWorkerExecutor({
        loader: isolate.loader,
        timeout: timeoutMs,
        globalOutbound: options.globalOutbound ?? null
      }),
      end: () => isolate.end()
    };
  };
  return guardedExecutor({ start, timeoutMs, methods });
}

/** Never used: `resolveExecute` has seen to it that there is a loader or an executor. */
const NO_SANDBOX: Executor = { execute: async () => ({ result: undefined, error: "There is no sandbox." }) };
