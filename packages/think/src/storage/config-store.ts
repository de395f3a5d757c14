/**
 * Small durable settings: table `think_config`, one JSON value per key, cached in memory and written only on change.
 */
import { lazyTable } from "./lazy-table";
import type { Sql } from "./sql";

export interface ConfigStore {
  /** The stored value, or null. */
  get(key: string): unknown;
  /** Stores a JSON value; `undefined` deletes the key. An unchanged value is not written. */
  set(key: string, value: unknown): void;
}

const TABLE = `CREATE TABLE IF NOT EXISTS think_config (
  key TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL
) WITHOUT ROWID`;

export function createConfigStore(sql: Sql): ConfigStore {
  const ensureTable = lazyTable(sql, TABLE);
  const cache = new Map<string, string | null>();

  const read = (key: string): string | null => {
    const cached = cache.get(key);
    if (cached !== undefined) return cached;
    ensureTable();
    const stored = sql.exec<{ value: string }>("SELECT value FROM think_config WHERE key = ?", key)[0]?.value ?? null;
    cache.set(key, stored);
    return stored;
  };

  return {
    get(key) {
      const text = read(key);
      return text === null ? null : (JSON.parse(text) as unknown);
    },
    set(key, value) {
      const text = value === undefined ? null : JSON.stringify(value);
      if (text === read(key)) return;
      if (text === null) sql.exec("DELETE FROM think_config WHERE key = ?", key);
      else {
        sql.exec("INSERT INTO think_config (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", key, text);
      }
      cache.set(key, text);
    }
  };
}
