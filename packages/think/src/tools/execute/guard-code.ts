/**
 * Rewrites sandbox code so that it always comes to an end that can be told: loops and functions look at the clock, whatever is thrown
 * becomes an error with a message, and console output is bounded. Called for every pass, before the sandbox is started.
 *
 * I1. The name of the guard is none that occurs in the code, so the code can neither call nor shadow it.
 * I2. On the platform a clock stands still while code runs; there the isolate's CPU limit ends a loop, and this guard covers
 *     runtimes without such a limit.
 */
import { parse, type AnyNode, type Program } from "acorn";
import { errorText } from "../../shared/errors/error-text";
import { EXECUTE_LIMITS } from "../../shared/limits";

export type GuardedCode =
  | { readonly ok: true; readonly code: string }
  | { readonly ok: false; readonly error: string };

/** `code` is one function expression, as codemode normalises it. */
export function guardCode(code: string, timeoutMs: number): GuardedCode {
  const prefix = "(";
  const source = `${prefix}${code}\n)`;
  let tree: Program;
  try {
    tree = parse(source, { ecmaVersion: "latest", sourceType: "module" });
  } catch (error) {
    return { ok: false, error: `SyntaxError: ${errorText(error)}. Send plain JavaScript.` };
  }
  // Unbalanced brackets could otherwise close the wrapper and go on outside of it.
  if (tree.body.length !== 1 || tree.body[0]?.type !== "ExpressionStatement")
    return { ok: false, error: "SyntaxError: The code must be one function. Check its brackets." };
  const names = new Set<string>();
  const insertions: Insertion[] = [];
  const nodes: AnyNode[] = [];
  walk(tree, (node) => {
    nodes.push(node);
    if (node.type === "Identifier") names.add(node.name);
  });
  const tick = freeName("__tick", names);
  for (const node of nodes) insertions.push(...guardsOf(node, tick));
  return { ok: true, code: wrapper(insert(source, insertions), tick, timeoutMs) };
}

interface Insertion {
  readonly at: number;
  readonly text: string;
  /** Of several at one place: closing ones first, then from the outside in. */
  readonly order: number;
}

const LOOPS: ReadonlySet<string> = new Set([
  "ForStatement",
  "ForInStatement",
  "ForOfStatement",
  "WhileStatement",
  "DoWhileStatement"
]);
const FUNCTIONS: ReadonlySet<string> = new Set([
  "FunctionDeclaration",
  "FunctionExpression",
  "ArrowFunctionExpression"
]);

function guardsOf(node: AnyNode, tick: string): Insertion[] {
  if (!LOOPS.has(node.type) && !FUNCTIONS.has(node.type)) return [];
  if (!("body" in node) || Array.isArray(node.body) || !node.body) return [];
  const body = node.body;
  if (body.type === "BlockStatement")
    return [{ at: body.start + 1, text: `${tick}();`, order: body.start + 1 }];
  const [open, close] = LOOPS.has(node.type) ? [`{${tick}();`, "}"] : [`(${tick}(),`, ")"];
  return [
    { at: body.start, text: open, order: body.start },
    { at: body.end, text: close, order: -body.start }
  ];
}

function insert(source: string, insertions: readonly Insertion[]): string {
  // Stable: parents come before their children in the walk, and with equal order the outer one opens first.
  const sorted = [...insertions].toSorted((a, b) => a.at - b.at || a.order - b.order);
  let result = "";
  let from = 0;
  for (const { at, text } of sorted) {
    result += source.slice(from, at) + text;
    from = at;
  }
  return result + source.slice(from);
}

function walk(node: AnyNode, visit: (node: AnyNode) => void): void {
  const waiting: AnyNode[] = [node];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    visit(next);
    const children = Object.values(next).flat().filter(isNode);
    waiting.push(...children.toReversed());
  }
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === "object" && value !== null && "type" in value && "start" in value && "end" in value;
}

function freeName(wish: string, taken: ReadonlySet<string>): string {
  let name = wish;
  while (taken.has(name)) name += "_";
  return name;
}

/** The helpers are kept in constants: the code may replace globals, but not these. */
function wrapper(code: string, tick: string, timeoutMs: number): string {
  const { ticksPerLook, logChars } = EXECUTE_LIMITS;
  return `async () => {
  const ${tick}_Error = Error;
  const ${tick} = (() => {
    const now = Date.now.bind(Date), Failure = Error, end = Date.now() + ${timeoutMs};
    let count = 0, over = false;
    return () => {
      if (++count % ${ticksPerLook} === 0) over ||= now() > end;
      if (over) throw new Failure("Execution timed out");
    };
  })();
  return await (async (${tick}_say, ${tick}_text) => {
    let left = ${logChars};
    for (const level of ["log", "info", "debug", "warn", "error"]) {
      const write = console[level === "info" || level === "debug" ? "log" : level];
      console[level] = (...values) => {
        if (left <= 0) return;
        const line = values.map(${tick}_say).join(" ").slice(0, left);
        left -= line.length + 1;
        write(line);
        if (left <= 0) write("[further console output is dropped]");
      };
    }
    try {
      return await (${code})();
    } catch (thrown) {
      throw ${tick}_text(thrown);
    }
  })((value) => {
    if (typeof value === "string") return value;
    try { return value instanceof ${tick}_Error ? String(value) : JSON.stringify(value) ?? String(value); } catch { return "[unprintable]"; }
  }, (thrown) => {
    try {
      if (thrown instanceof ${tick}_Error && typeof thrown.message === "string" && thrown.message !== "") return thrown;
      if (thrown instanceof ${tick}_Error) return new ${tick}_Error("The code threw an error without a message (" + String(thrown.name) + ").");
      const text = typeof thrown === "string" ? thrown : JSON.stringify(thrown) ?? String(thrown);
      return new ${tick}_Error("The code threw a value that is no Error: " + text.slice(0, 1000));
    } catch { return new ${tick}_Error("The code threw a value that cannot be read."); }
  });
}`;
}
