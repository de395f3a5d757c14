/** What the model is told about `execute`. */
import { generateTypes } from "@cloudflare/codemode/ai";
import { sanitizeToolName } from "@cloudflare/codemode";
import type { ToolSet } from "ai";
import { ThinkError } from "../../shared/errors/think-error";

/** Longest generated types in the description, in UTF-16 code units; beyond it the model asks `codemode.describe`. */
const TYPES_CHARS = 8000;

export interface Described {
  readonly tools: ToolSet;
  /** Names of the other namespaces, in order. */
  readonly namespaces: readonly string[];
  readonly hasState: boolean;
  readonly packages: readonly string[] | undefined;
  /** Whether a call can pause for a person, and `codemode.*` exists. */
  readonly durable: boolean;
}

export function describeExecute(parts: Described): string {
  const tools = executable(parts.tools);
  const names = Object.keys(tools).map(sanitizeToolName);
  const globals = [
    ...(names.length > 0 ? ["tools"] : []),
    ...(parts.hasState ? ["state"] : []),
    ...parts.namespaces,
    "codemode"
  ];
  const lines = [
    `Runs ${parts.packages ? "JavaScript or TypeScript" : "JavaScript"} in an isolated sandbox without network. Prefer it when a task needs several calls, loops or computation.`,
    "Send one async arrow function: async () => { ... return value; }. Its return value is the result; console output is returned as logs.",
    `The only globals are ${globals.map((name) => `\`${name}\``).join(", ")} and those of the language. There is no host, fs, require or process, and fetch fails.`,
    ...(parts.durable ? DURABLE : ["`codemode.<tool>` is the same as `tools.<tool>`."]),
    ...toolLines(tools, names),
    ...(parts.hasState
      ? [
          '`state`: files of the workspace. Every method takes ONE object: await state.readFile({ path: "/a.txt" }), await state.writeFile({ path, content }). Searches take plain text and simple globs.'
        ]
      : []),
    ...parts.namespaces.map((name) =>
      name === "cdp" ? BROWSER : `\`${name}\`: call its methods with one object each.`
    ),
    ...(parts.packages?.length ? [`Packages, by dynamic import: ${parts.packages.join(", ")}.`] : [])
  ];
  return lines.join("\n");
}

const BROWSER =
  '`cdp`: a browser over the Chrome DevTools Protocol. Read await codemode.describe("cdp") first: attach to a target, then send commands with its session id.';

const DURABLE = [
  'Do not guess names: await codemode.search("what you need") finds methods, await codemode.describe("tools.name") gives their types. codemode.run("name", input) runs a saved snippet.',
  'A call may need a person\'s approval. Write the code as if it returned at once; the answer is then { status: "paused" }. Say what is waiting and stop: the code goes on by itself after the decision, do not send it again.',
  'After an approval the code runs again from its start with the recorded results. Wrap time, randomness and the like: await codemode.step("name", async () => Date.now()).'
];

function toolLines(tools: ToolSet, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const types = generateTypes(tools, "tools");
  const usage = `\`tools\`: for example await tools.${names[0]}({ ... }), one object each. All: ${names.join(", ")}.`;
  return types.length <= TYPES_CHARS ? [usage, "", types] : [usage];
}

/** Tools without `execute` run elsewhere and cannot be called from code. */
export function executable(tools: ToolSet): ToolSet {
  return Object.fromEntries(
    Object.entries(tools).filter(([, tool]) => "execute" in tool && typeof tool.execute === "function")
  );
}

export function checkNames(tools: ToolSet): void {
  const seen = new Map<string, string>();
  for (const name of Object.keys(executable(tools))) {
    const safe = sanitizeToolName(name);
    const other = seen.get(safe);
    if (other !== undefined)
      throw new ThinkError(
        `The tools "${other}" and "${name}" are both called "${safe}" in the sandbox. Rename one of them.`,
        { code: "execute-misconfigured" }
      );
    seen.set(safe, name);
  }
}
