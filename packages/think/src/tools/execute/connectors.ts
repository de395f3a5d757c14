/**
 * The namespaces of the sandbox, in the order in which the model is told of them: tools, state, browser, then what the author adds.
 */
import type { CodemodeConnector } from "@cloudflare/codemode";
import { toolSetConnector } from "@cloudflare/codemode/ai";
import type { StateBackend } from "@cloudflare/shell";
import { stateConnector } from "@cloudflare/shell/workers";
import type { ToolSet } from "ai";
import { browserConnectors, type BrowserNamespace } from "./browser-namespace";
import type { Methods } from "./guard-calls";
import { sandboxTools } from "./sandbox-tools";

/** A further namespace of tools, as older code gives it. */
export interface ExecuteProvider {
  /** The name of its global. Default: `tools`, where it joins the others. */
  readonly name?: string;
  readonly tools: ToolSet;
  /** TypeScript that tells the model more than the generated types do. */
  readonly types?: string;
}

export interface ConnectorParts extends BrowserNamespace {
  readonly tools?: ToolSet | undefined;
  readonly providers?: readonly ExecuteProvider[] | undefined;
  readonly state?: StateBackend | undefined;
  readonly connectors?: readonly CodemodeConnector[] | undefined;
}

/** Tools of unnamed providers join those of the agent. */
export function ownTools({ tools = {}, providers = [] }: ConnectorParts): ToolSet {
  const unnamed = providers.filter(({ name = "tools" }) => name === "tools" || name === "codemode");
  return Object.assign({}, ...unnamed.map((provider) => provider.tools), tools);
}

export function namedProviders({ providers = [] }: ConnectorParts): readonly ExecuteProvider[] {
  return providers.filter(({ name = "tools" }) => name !== "tools" && name !== "codemode");
}

export function createConnectors(ctx: DurableObjectState, parts: ConnectorParts): CodemodeConnector[] {
  const tools = ownTools(parts);
  const named = namedProviders(parts).map(({ name = "tools", tools: given, types }) =>
    toolSetConnector(ctx, { name, tools: sandboxTools(given), ...(types ? { instructions: types } : {}) })
  );
  return [
    ...(Object.keys(tools).length > 0 ? [toolSetConnector(ctx, { tools: sandboxTools(tools) })] : []),
    ...(parts.state ? [stateConnector(ctx, parts.state)] : []),
    ...browserConnectors(ctx, parts),
    ...named,
    ...(parts.connectors ?? [])
  ];
}

/** What the sandbox may call. Asked once; connectors do not change. */
export function methodsOf(connectors: readonly CodemodeConnector[]): () => Promise<Methods> {
  let methods: Promise<Methods> | undefined;
  const load = async (): Promise<Methods> => {
    const descriptions = await Promise.all(connectors.map((connector) => connector.describe()));
    return new Map(descriptions.map(({ name, descriptors }) => [name, new Set(Object.keys(descriptors))]));
  };
  return () => (methods ??= load());
}
