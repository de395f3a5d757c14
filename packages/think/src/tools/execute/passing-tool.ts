/**
 * `execute` without a Durable Object: the same input and output, but no history and no pause. Tools that need approval are left out,
 * since nobody could be asked.
 */
import { normalizeCode, type Executor, type ResolvedProvider } from "@cloudflare/codemode";
import { resolveProvider } from "@cloudflare/codemode/ai";
import { stateToolsFromBackend } from "@cloudflare/shell/workers";
import type { ToolSet } from "ai";
import { namedProviders, ownTools } from "./connectors";
import type { ResolvedExecute } from "./options";
import { boundedResult, toExecuteOutput, type ExecuteOutput } from "./outputs";
import { sandboxTools, withoutApprovals } from "./sandbox-tools";

export const passingTools = (options: ResolvedExecute): ToolSet => withoutApprovals(ownTools(options));

export function passingProviders(options: ResolvedExecute): ResolvedProvider[] {
  const tools = sandboxTools(passingTools(options));
  const named = namedProviders(options).map(({ name = "tools", tools: given }) =>
    resolveProvider({ name, tools: sandboxTools(withoutApprovals(given)) })
  );
  return [
    resolveProvider({ name: "tools", tools }),
    resolveProvider({ name: "codemode", tools }),
    ...(options.state ? [resolveProvider({ ...stateToolsFromBackend(options.state), name: "state" })] : []),
    ...named
  ];
}

export async function runPassing(
  code: string,
  executor: Executor,
  providers: ResolvedProvider[]
): Promise<ExecuteOutput> {
  const { result, error, logs } = await executor.execute(normalizeCode(code), providers);
  return error === undefined
    ? toExecuteOutput({ status: "completed", executionId: "", result: boundedResult(result), logs })
    : toExecuteOutput({ status: "error", executionId: "", error, logs });
}
