/**
 * Names every durable write of an object and stops the whole runtime at a chosen one, so that the harness can kill it right there. The methods
 * put on `ctx.storage` shadow the platform's for everybody in the object, the base class included; the product knows nothing of it.
 *
 * I1. `before`: the thread never leaves the call, so nothing of this event is committed.
 * I2. `after`: the thread stops as soon as the platform says that the write is on disk, with all that the same event wrote.
 *
 * Statements that make tables are no points: they are committed together with the first row that needs them.
 */

export interface Fault {
  /** Such as `INSERT cf_ai_chat_stream_chunks`. */
  readonly write: string;
  /** Which of the writes of that name, from 1. */
  readonly ordinal: number;
  readonly when: "before" | "after";
}

type Method = (...args: unknown[]) => unknown;

export class FaultPoints {
  /** The names of the writes since `arm`, in order. */
  readonly seen: string[] = [];
  readonly #storage: DurableObjectStorage;
  readonly #counts = new Map<string, number>();
  #isArmed = false;
  #fault: Fault | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#watch(storage.sql, "exec", (sql) => statementName(String(sql)));
    for (const verb of ["put", "delete"] as const) {
      this.#watch(storage.kv, verb, (key) => `${verb} ${keyName(String(key))}`);
      this.#watch(storage, verb, (key) => `${verb} ${keyName(String(key))}`);
    }
    for (const verb of ["setAlarm", "deleteAlarm"] as const) this.#watch(storage, verb, () => verb);
  }

  /** Counts from here on. */
  arm(fault: Fault | undefined): void {
    this.seen.length = 0;
    this.#counts.clear();
    this.#fault = fault;
    this.#isArmed = true;
  }

  #watch(target: object, method: string, nameOf: (argument: unknown) => string | undefined): void {
    const original = Reflect.get(target, method) as Method;
    const shadow: Method = (...args) => {
      const name = nameOf(args[0]);
      const proceed = () => Reflect.apply(original, target, args);
      return name === undefined || !this.#isArmed ? proceed() : this.#pass(name, proceed);
    };
    Object.defineProperty(target, method, { value: shadow, configurable: true, writable: true });
  }

  #pass(name: string, proceed: () => unknown): unknown {
    const ordinal = (this.#counts.get(name) ?? 0) + 1;
    const isHere = this.#fault?.write === name && this.#fault.ordinal === ordinal;
    if (isHere && this.#fault?.when === "before") halt(`before ${name} ${ordinal}`);
    const result = this.#count(name, proceed);
    if (isHere) void this.#storage.sync().then(() => halt(`after ${name} ${ordinal}`));
    return result;
  }

  /** A write that fails is none: tables are made when the first write finds that they are missing. */
  #count(name: string, proceed: () => unknown): unknown {
    const result = proceed();
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    this.seen.push(name);
    return result;
  }
}

/** Tells the harness, which reads the runtime's output, and holds the thread until it is killed. */
function halt(point: string): never {
  console.error(`FAULT ${point}`);
  for (let spins = 0; ; spins += 1) if (spins < 0) throw new Error("unreachable");
}

function statementName(sql: string): string | undefined {
  const [, verb, table] =
    /^\s*(insert|update|delete|replace)\b(?:\s+or\s+\w+)?(?:\s+(?:into|from))?\s+"?(\w+)/iu.exec(sql) ?? [];
  return verb === undefined ? undefined : `${verb.toUpperCase()} ${table}`;
}

/** Keys that carry an id are one name. */
function keyName(key: string): string {
  return key.startsWith("cf:chat-recovery:incident:") ? "incident" : key;
}
