/**
 * The address of an agent as clients build it: `/{prefix}/{kebab class}/{name}`, then one
 * `/sub/{kebab class}/{name}` per sub-agent, then an own path. Used by the chat client.
 */

/** A class name, or the class itself. */
export type AgentName = string | { readonly name: string };

export interface AgentAddress {
  /** The agent's class or class name; it is turned into kebab case. */
  readonly agent: AgentName;
  /** Name of the instance. Default `"default"`. */
  readonly name?: string;
  /** Route prefix. Default `"agents"`. */
  readonly prefix?: string;
  /** Sub-agents below it, outermost first. Default none. */
  readonly sub?: readonly { readonly agent: AgentName; readonly name: string }[];
  /** Further path below the agent. Default none. */
  readonly path?: string;
  /** Query parameters. Default none. */
  readonly query?: Readonly<Record<string, string>>;
}

/** The address below `base`, for example `https://host/agents/my-agent/default`. */
export function agentUrl(base: string | URL, address: AgentAddress): URL {
  const { agent, name = "default", prefix = "agents", sub = [], path, query = {} } = address;
  const segments = [...prefix.split("/"), kebabCase(classNameOf(agent)), name];
  for (const child of sub) segments.push("sub", kebabCase(classNameOf(child.agent)), child.name);
  const encoded = segments.filter((segment) => segment !== "").map(encodeURIComponent);
  if (path !== undefined) encoded.push(path.replace(/^\/+/u, ""));
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/u, "")}/${encoded.join("/")}`;
  for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
  return url;
}

/** The client's rule: `MyAgent` → `my-agent`, `MY_AGENT` → `my-agent`. */
export function kebabCase(name: string): string {
  if (name === name.toUpperCase() && name !== name.toLowerCase())
    return name.toLowerCase().replaceAll("_", "-");
  return name
    .replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)
    .replace(/^-/u, "")
    .replaceAll("_", "-")
    .replace(/-$/u, "");
}

function classNameOf(agent: AgentName): string {
  return typeof agent === "string" ? agent : agent.name;
}
