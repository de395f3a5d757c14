/**
 * The one door to SQLite. Stores receive this interface, never the Durable Object; statements are synchronous, so a
 * store call is atomic with respect to every other event of the object.
 */
export type SqlValue = string | number | null | ArrayBuffer;

export type SqlRow = Record<string, SqlValue>;

export interface Sql {
  /** Runs one statement and returns its rows. */
  exec<Row extends SqlRow = SqlRow>(statement: string, ...bindings: SqlValue[]): Row[];
  /** Runs `work` so that all of its writes happen or none. */
  transaction<Result>(work: () => Result): Result;
}
