/**
 * Our `Sql` over whatever a user hands to `Session` or to a context provider: an agent, or anything with its `sql` tag.
 *
 * An agent's storage is used directly when it is there, because only it knows transactions; the tag alone does not.
 */
import { isRecord } from "../shared/json";
import type { Sql, SqlRow, SqlValue } from "./sql";

/** Anything with the `sql` tag of an agent. */
export interface SqlHost {
  sql<Row = Record<string, string | number | boolean | null>>(
    strings: TemplateStringsArray,
    ...values: (string | number | boolean | null)[]
  ): Row[];
}

/** Whether a value has the tag; a session provider has not. */
export function isSqlHost(value: unknown): value is SqlHost {
  return isObject(value) && "sql" in value && typeof value.sql === "function";
}

/**
 * What is our `Sql` already stays it. With an agent, statements and transactions go to its storage. With a bare tag there are no transactions: the work of a
 * transaction simply runs, and what it wrote before it failed stays written (the platform still makes writes without an `await`
 * between them atomic against a crash).
 */
export function hostSql(host: SqlHost | Sql): Sql {
  if ("exec" in host) return host;
  const storage = storageOf(host);
  if (storage) {
    return {
      exec: (statement, ...bindings) => storage.sql.exec(statement, ...bindings).toArray() as never,
      transaction: (work) => storage.transactionSync(work)
    };
  }
  return {
    exec: (statement, ...bindings) => execWithTag(host, statement, bindings),
    transaction: (work) => work()
  };
}

/** The part of `DurableObjectStorage` that is used. */
interface HostStorage {
  readonly sql: { exec(statement: string, ...bindings: SqlValue[]): { toArray(): unknown[] } };
  transactionSync<Result>(work: () => Result): Result;
}

/** `ctx` is protected in the types of an agent, so it is looked for at run time. */
function storageOf(host: object): HostStorage | undefined {
  const context = "ctx" in host ? host.ctx : undefined;
  const storage = isObject(context) && "storage" in context ? context.storage : undefined;
  return isHostStorage(storage) ? storage : undefined;
}

function isHostStorage(value: unknown): value is HostStorage {
  if (!isObject(value) || !("sql" in value) || !("transactionSync" in value)) return false;
  const { sql, transactionSync } = value;
  return (
    typeof transactionSync === "function" && isObject(sql) && "exec" in sql && typeof sql.exec === "function"
  );
}

/** Objects of the platform are class instances and may be functions to `typeof`. */
function isObject(value: unknown): value is object {
  return isRecord(value) || typeof value === "function";
}

function execWithTag<Row extends SqlRow>(host: SqlHost, statement: string, bindings: SqlValue[]): Row[] {
  const { strings, positions } = splitStatement(statement);
  const values = positions.map((position) => {
    const value = bindings[position];
    if (value === undefined) throw new TypeError(`No value for placeholder ${position + 1} of: ${statement}`);
    if (value instanceof ArrayBuffer) {
      throw new TypeError("An sql tag takes no binary values; pass the agent itself, whose storage does.");
    }
    return value;
  });
  return host.sql<Row>(Object.assign([...strings], { raw: strings }), ...values);
}

interface SplitStatement {
  /** The text around the placeholders; one more than there are placeholders. */
  readonly strings: readonly string[];
  /** For each placeholder the index of its value. */
  readonly positions: readonly number[];
}

/** Quoted text and comments, in which a question mark is none of ours, or a placeholder with its number. */
const tokens = /'[^']*'|"[^"]*"|`[^`]*`|--[^\n]*|\/\*[\s\S]*?\*\/|\?(\d*)/g;

/** Cuts a statement at its placeholders. `?` counts as SQLite counts it: one more than the largest number so far. */
export function splitStatement(statement: string): SplitStatement {
  const strings: string[] = [];
  const positions: number[] = [];
  let largest = 0;
  let start = 0;
  for (const token of statement.matchAll(tokens)) {
    const digits = token[1];
    if (digits === undefined) continue;
    const number = digits === "" ? largest + 1 : Number(digits);
    largest = Math.max(largest, number);
    positions.push(number - 1);
    strings.push(statement.slice(start, token.index));
    start = token.index + token[0].length;
  }
  return { strings: [...strings, statement.slice(start)], positions };
}
