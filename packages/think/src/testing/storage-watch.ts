/**
 * Watches what a Durable Object does to its storage. Used by the row counter.
 *
 * How: `ctx.storage`, its `sql` and its `kv` are host objects, always the same ones for the life of an
 * object, and their methods live on prototypes. A method put on the object itself shadows the original for
 * every caller that goes through `ctx.storage`, the base `Agent` and its `this.sql` included; one put on the
 * prototype does so for all objects of the isolate. Both are undone by {@link StorageWatch.stop}.
 *
 * Invariants:
 * W1. Every call reaches the original with the same arguments; only statements of one `exec` that holds
 *     several are run one by one, since a cursor knows the rows of the last one only.
 * W2. A cursor is asked for its counts right after `exec` and after each use, in the context that owns it.
 * W3. When the last watch of a target stops, the target has exactly its original methods again.
 */
import { intercept, type InterceptedCall } from "./intercept";
import { splitStatements } from "./split-statements";

/** Told about each effect as it happens. */
export interface StorageListener {
  /** A statement was run; its rows come with {@link StorageListener.rows}, in one or more reports. */
  statement(sql: string): void;
  rows(sql: string, written: number, read: number): void;
  kvWrites(count: number): void;
  kvReads(count: number): void;
  alarmSet(): void;
  alarmDeleted(): void;
}

/** The three objects whose methods are watched. */
export interface StorageTargets {
  readonly storage: object;
  readonly sql: object;
  readonly kv: object;
}

export interface StorageWatch {
  stop(): void;
}

/** The storage of one object. */
export function targetsOf(storage: DurableObjectStorage): StorageTargets {
  return { storage, sql: storage.sql, kv: storage.kv };
}

/** The storage of every object in this isolate, those that start later included. */
export function sharedTargetsOf(storage: DurableObjectStorage): StorageTargets {
  return { storage: prototypeOf(storage), sql: prototypeOf(storage.sql), kv: prototypeOf(storage.kv) };
}

/** Begins to watch. */
export function watchStorage(targets: StorageTargets, listener: StorageListener): StorageWatch {
  let active = true;
  const heard: StorageListener = {
    statement: (sql) => active && listener.statement(sql),
    rows: (sql, written, read) => active && listener.rows(sql, written, read),
    kvWrites: (count) => active && listener.kvWrites(count),
    kvReads: (count) => active && listener.kvReads(count),
    alarmSet: () => active && listener.alarmSet(),
    alarmDeleted: () => active && listener.alarmDeleted()
  };
  const undo = [
    watchSql(targets.sql, heard),
    ...watchKeys(targets.storage, heard),
    ...watchKeys(targets.kv, heard),
    intercept(targets.storage, "setAlarm", (call) => {
      heard.alarmSet();
      return call.proceed();
    }),
    intercept(targets.storage, "deleteAlarm", (call) => {
      heard.alarmDeleted();
      return call.proceed();
    }),
    intercept(targets.storage, "transaction", (call) => {
      const [work, ...rest] = call.args;
      if (typeof work !== "function") return call.proceed();
      return call.proceed([
        (transaction: object) => {
          watchKeys(transaction, heard);
          return Reflect.apply(work, undefined, [transaction]);
        },
        ...rest
      ]);
    })
  ];
  return {
    stop() {
      active = false;
      for (const restore of undo) restore();
    }
  };
}

function watchSql(target: object, listener: StorageListener): () => void {
  return intercept(target, "exec", ({ args, proceed }) => {
    const [sql, ...bindings] = args;
    if (typeof sql !== "string") return proceed();
    const statements = splitStatements(sql);
    const run = (statement: string, values: readonly unknown[]) => {
      const cursor = proceed([statement, ...values]);
      listener.statement(statement);
      if (isCursor(cursor)) followCursor(cursor, statement, listener);
      return cursor;
    };
    for (const statement of statements.slice(0, -1)) run(statement, []);
    return run(statements.at(-1) ?? sql, bindings);
  });
}

type Cursor = SqlStorageCursor<Record<string, SqlStorageValue>>;

function isCursor(value: unknown): value is Cursor {
  return typeof value === "object" && value !== null && "rowsRead" in value;
}

/** Reports the rows of a cursor as they come in. */
function followCursor(cursor: Cursor, sql: string, listener: StorageListener): void {
  let written = 0;
  let read = 0;
  const report = () => {
    const { rowsWritten, rowsRead } = cursor;
    if (rowsWritten !== written || rowsRead !== read)
      listener.rows(sql, rowsWritten - written, rowsRead - read);
    written = rowsWritten;
    read = rowsRead;
  };
  const reporting = ({ proceed }: InterceptedCall) => {
    try {
      return proceed();
    } finally {
      report();
    }
  };
  report();
  for (const name of ["next", "toArray", "one"]) intercept(cursor, name, reporting);
  for (const name of ["raw", Symbol.iterator]) {
    intercept(cursor, name, ({ proceed }) => {
      const rows = proceed();
      return isIterator(rows) ? reportingIterator(rows, report) : rows;
    });
  }
}

function isIterator(value: unknown): value is Iterator<unknown> {
  return typeof value === "object" && value !== null && "next" in value && typeof value.next === "function";
}

/** Iterates like `rows` and calls `report` after each step; the generator brings the iterator helpers along. */
function* reportingIterator(rows: Iterator<unknown>, report: () => void): Generator<unknown, void> {
  try {
    for (;;) {
      const step = rows.next();
      report();
      if (step.done === true) return;
      yield step.value;
    }
  } finally {
    rows.return?.();
  }
}

/** `get`, `put`, `delete`, `list` and `deleteAll`, in the asynchronous and the synchronous form alike. */
function watchKeys(target: object, listener: StorageListener): (() => void)[] {
  const counting = (name: string, count: (amount: number) => void) =>
    intercept(target, name, ({ args, proceed }) => {
      count(entriesIn(args[0]));
      return proceed();
    });
  return [
    counting("get", listener.kvReads),
    counting("put", listener.kvWrites),
    counting("delete", listener.kvWrites),
    intercept(target, "deleteAll", ({ proceed }) => {
      listener.kvWrites(1);
      return proceed();
    }),
    intercept(target, "list", ({ proceed }) => countListed(proceed(), listener))
  ];
}

/** A key is one entry; a list of keys or an object of entries is as many as it holds. */
function entriesIn(argument: unknown): number {
  if (typeof argument !== "object" || argument === null) return 1;
  return Array.isArray(argument) ? argument.length : Object.keys(argument).length;
}

function countListed(listed: unknown, listener: StorageListener): unknown {
  if (listed instanceof Promise) {
    return listed.then((entries: ReadonlyMap<string, unknown>) => {
      listener.kvReads(entries.size);
      return entries;
    });
  }
  return typeof listed === "object" && listed !== null && Symbol.iterator in listed
    ? countWhileIterating(listed as Iterable<unknown>, listener)
    : listed;
}

function* countWhileIterating(
  entries: Iterable<unknown>,
  listener: StorageListener
): Generator<unknown, void> {
  for (const entry of entries) {
    listener.kvReads(1);
    yield entry;
  }
}

function prototypeOf(value: object): object {
  const prototype: unknown = Object.getPrototypeOf(value);
  return typeof prototype === "object" && prototype !== null ? prototype : value;
}
