/**
 * Counts what a piece of work costs in a Durable Object's storage, in the units the platform bills: rows
 * written (index rows included, as the cursor reports them) and rows read, key-value operations and alarms.
 * Used by tests that hold an agent to a budget.
 *
 * Invariant: the totals are sums of what was reported while the counter ran; work that the object does in
 * the background during that time counts, work of other objects does not, unless asked for.
 */
import { runInAgent } from "./durable-object";
import { sharedTargetsOf, targetsOf, watchStorage, type StorageTargets } from "./storage-watch";

/** The cost of one SQL text. */
export interface SqlCost {
  readonly sql: string;
  /** How often it was run. */
  readonly statements: number;
  readonly rowsWritten: number;
  readonly rowsRead: number;
}

/** The cost of a piece of work. */
export interface RowCounts {
  /** Rows written by SQL, index rows included. */
  readonly rowsWritten: number;
  /** Rows read by SQL. */
  readonly rowsRead: number;
  /** SQL statements run. */
  readonly statements: number;
  /** Keys put or deleted; `deleteAll` counts as one. */
  readonly kvWrites: number;
  /** Keys asked for, and entries listed. */
  readonly kvReads: number;
  /** Alarms set. */
  readonly alarmWrites: number;
  /** Alarms deleted; free of charge, so not part of any total. */
  readonly alarmDeletes: number;
  /** `rowsWritten + kvWrites + alarmWrites`. */
  readonly totalWritten: number;
  /** `rowsRead + kvReads`. */
  readonly totalRead: number;
  /** The cost per SQL text, most rows first. */
  readonly bySql: readonly SqlCost[];
}

/** A counter that is running. */
export interface RowCounter {
  /** The counts so far. */
  read(): RowCounts;
  /** Ends counting and gives the counts; later calls give the same. */
  stop(): RowCounts;
}

type StorageOwner = DurableObjectStorage | { readonly storage: DurableObjectStorage };

/** Starts to count what one object does; call it inside the object. Background work counts until `stop()`. */
export function countRows(owner: StorageOwner): RowCounter;
/** Counts what one object does while `work` runs; call it inside the object. */
export function countRows(owner: StorageOwner, work: () => unknown): Promise<RowCounts>;
export function countRows(owner: StorageOwner, work?: () => unknown): RowCounter | Promise<RowCounts> {
  const counter = startCounter(targetsOf("storage" in owner ? owner.storage : owner));
  return work === undefined ? counter : during(counter, work);
}

/**
 * Counts what the object behind `stub` does while `work` runs outside of it, for example a chat turn. The
 * object is started first if it sleeps, and must not be evicted meanwhile: see {@link countAllRows}.
 */
export async function countRowsOf<Instance extends Rpc.DurableObjectBranded>(
  stub: DurableObjectStub<Instance>,
  work: () => unknown
): Promise<RowCounts> {
  return during(await runInAgent(stub, (_agent, state) => countRows(state)), work);
}

/**
 * Counts what all objects of the Worker do while `work` runs: those that start meanwhile with their
 * constructors, and sub-agents too. `stub` may be any object; it is started first if it sleeps. To measure a
 * wake-up, evict the object inside `work`.
 */
export async function countAllRows<Instance extends Rpc.DurableObjectBranded>(
  stub: DurableObjectStub<Instance>,
  work: () => unknown
): Promise<RowCounts> {
  return during(
    await runInAgent(stub, (_agent, state) => startCounter(sharedTargetsOf(state.storage))),
    work
  );
}

async function during(counter: RowCounter, work: () => unknown): Promise<RowCounts> {
  try {
    await work();
  } finally {
    counter.stop();
  }
  return counter.stop();
}

function startCounter(targets: StorageTargets): RowCounter {
  const tally = { kvWrites: 0, kvReads: 0, alarmWrites: 0, alarmDeletes: 0 };
  const bySql = new Map<string, { statements: number; rowsWritten: number; rowsRead: number }>();
  const costOf = (sql: string) => {
    const text = sql.replaceAll(/\s+/gu, " ").trim();
    const cost = bySql.get(text) ?? { statements: 0, rowsWritten: 0, rowsRead: 0 };
    bySql.set(text, cost);
    return cost;
  };
  const watch = watchStorage(targets, {
    statement(sql) {
      costOf(sql).statements += 1;
    },
    rows(sql, written, read) {
      const cost = costOf(sql);
      cost.rowsWritten += written;
      cost.rowsRead += read;
    },
    kvWrites: (count) => void (tally.kvWrites += count),
    kvReads: (count) => void (tally.kvReads += count),
    alarmSet: () => void (tally.alarmWrites += 1),
    alarmDeleted: () => void (tally.alarmDeletes += 1)
  });
  const read = () =>
    summarise(
      tally,
      [...bySql].map(([sql, cost]) => ({ sql, ...cost }))
    );
  return {
    read,
    stop() {
      watch.stop();
      return read();
    }
  };
}

type Tally = Pick<RowCounts, "kvWrites" | "kvReads" | "alarmWrites" | "alarmDeletes">;

function summarise(tally: Tally, costs: SqlCost[]): RowCounts {
  const sum = (pick: (cost: SqlCost) => number) => costs.reduce((total, cost) => total + pick(cost), 0);
  const rowsWritten = sum((cost) => cost.rowsWritten);
  const rowsRead = sum((cost) => cost.rowsRead);
  return {
    rowsWritten,
    rowsRead,
    statements: sum((cost) => cost.statements),
    ...tally,
    totalWritten: rowsWritten + tally.kvWrites + tally.alarmWrites,
    totalRead: rowsRead + tally.kvReads,
    bySql: costs.toSorted((a, b) => b.rowsWritten + b.rowsRead - (a.rowsWritten + a.rowsRead))
  };
}
