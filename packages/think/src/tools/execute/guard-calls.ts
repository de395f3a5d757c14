/**
 * The gate for calls out of the sandbox. Everything the code can reach of the host passes here first, whatever way the code takes.
 *
 * I1. Only methods that were given are called; a forged name is refused without being logged.
 * I2. Arguments are plain data, copied here. What is logged, what a person approves and what the tool receives is therefore the same
 *     value: a map, a getter or a function could be one thing at approval and another one when it runs.
 * I3. Only a step that the runtime has just handed out can be recorded, once: code cannot write other entries of its own log.
 * I4. The number of calls in one pass is bounded.
 */
import type { ConnectorBinding, ResolvedProvider } from "@cloudflare/codemode";
import { errorText } from "../../shared/errors/error-text";
import { isRecord } from "../../shared/json";
import { EXECUTE_LIMITS } from "../../shared/limits";

/** The methods of each namespace. */
export type Methods = ReadonlyMap<string, ReadonlySet<string>>;

const CONTROL = "__codemode_control__";
const refusal = (message: string) => ({ [CONTROL]: "error", message });

export class CallGuard {
  readonly #methods: Methods;
  readonly #steps = new Set<number>();
  #calls = 0;

  constructor(methods: Methods) {
    this.#methods = methods;
  }

  binding({ name, binding }: ConnectorBinding): ConnectorBinding {
    return {
      name,
      binding: {
        callTool: async (method, args) => {
          const known = this.#methods.get(name);
          if (known && !known.has(method)) return refusal(unknownMethod(name, method, known));
          try {
            this.#count();
            return await binding.callTool(method, checkedArguments(`${name}.${method}`, args));
          } catch (error) {
            return refusal(errorText(error));
          }
        }
      }
    };
  }

  provider(provider: ResolvedProvider): ResolvedProvider {
    const entries = Object.entries(provider.fns).map(([method, call]) => [
      method,
      async (...args: unknown[]) => {
        this.#count();
        if (method === "__stepRecord") this.#consumeStep(args[0]);
        const result = await call(...args.map((arg) => checkedArguments(`${provider.name}.${method}`, arg)));
        if (method === "__stepDecide" && isRecord(result) && result.kind === "execute")
          this.#steps.add(Number(result.seq));
        return result;
      }
    ]);
    // Without a prototype: `codemode.constructor()` finds nothing to call.
    return { ...provider, fns: Object.assign(Object.create(null), Object.fromEntries(entries)) };
  }

  #count(): void {
    this.#calls += 1;
    if (this.#calls > EXECUTE_LIMITS.calls)
      throw new Error(
        `The code made more than ${EXECUTE_LIMITS.calls} calls; do the work in fewer, larger ones.`
      );
  }

  #consumeStep(seq: unknown): void {
    if (!this.#steps.delete(Number(seq))) throw new Error("Only codemode.step() can record a step.");
  }
}

function unknownMethod(namespace: string, method: unknown, known: ReadonlySet<string>): string {
  const some = [...known].slice(0, 20).join(", ");
  return `${namespace}.${String(method).slice(0, 100)} does not exist; ${namespace} has ${some}.`;
}

function checkedArguments(path: string, args: unknown): unknown {
  if (args === undefined) return undefined;
  const budget = { chars: EXECUTE_LIMITS.argsChars };
  const copy = plain(args, path, budget, 0);
  if (path.startsWith("state.")) checkPattern(path, copy);
  return copy;
}

/** A copy of data: JSON values and bytes. */
function plain(value: unknown, path: string, budget: { chars: number }, depth: number): unknown {
  if (depth > EXECUTE_LIMITS.argsDepth) throw new Error(`The arguments of ${path} are nested too deeply.`);
  budget.chars -= costOf(value);
  if (budget.chars < 0)
    throw new Error(
      `The arguments of ${path} are larger than ${EXECUTE_LIMITS.argsChars} characters; write large data to a file and pass its path.`
    );
  if (value === null || value === undefined || typeof value === "boolean" || typeof value === "string")
    return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (value instanceof Uint8Array) return value.slice();
  if (value instanceof ArrayBuffer) return value.slice(0);
  if (Array.isArray(value)) return value.map((item) => plain(item, path, budget, depth + 1));
  if (value instanceof Date) return value.toJSON();
  if (isPlainObject(value)) {
    const entries = Object.entries(value).filter(([, nested]) => nested !== undefined);
    // As entries, so that a key `__proto__` stays a key.
    return Object.fromEntries(entries.map(([key, nested]) => [key, plain(nested, path, budget, depth + 1)]));
  }
  throw new Error(
    `The arguments of ${path} must be plain data: objects, arrays, strings, numbers, booleans.`
  );
}

function costOf(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  if (value instanceof Uint8Array || value instanceof ArrayBuffer) return Math.ceil(value.byteLength * 1.4);
  if (isPlainObject(value)) return Object.keys(value).reduce((sum, key) => sum + key.length + 4, 2);
  return 4;
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** File searches run in the agent, where nothing can stop a pattern that backtracks for ever. */
function checkPattern(path: string, args: unknown): void {
  if (!isRecord(args)) return;
  const searches = [args, ...(Array.isArray(args.instructions) ? args.instructions : [])].filter(isRecord);
  const options = searches.map((search) => search.options).filter(isRecord);
  if (options.some(({ regex }) => Boolean(regex)))
    throw new Error(
      `${path} takes no regular expression here; search for plain text, or read the file and match it in your code.`
    );
  const globs = [
    args.pattern,
    ...options.flatMap(({ pattern, pathPattern, name }) => [pattern, pathPattern, name])
  ];
  for (const glob of globs) {
    if (typeof glob !== "string") continue;
    const wildcards = glob.match(/[*?{[]+/g)?.length ?? 0;
    if (glob.length > EXECUTE_LIMITS.globChars || wildcards > EXECUTE_LIMITS.globWildcards)
      throw new Error(
        `The pattern of ${path} is too complex; use at most ${EXECUTE_LIMITS.globWildcards} wildcards.`
      );
  }
}
