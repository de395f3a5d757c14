/**
 * Small durable settings: table `think_config`, one JSON value per key, cached in memory and written only on change.
 *
 * When the table is made, settings that older releases kept in `assistant_config`, and before that in `_think_config`, are copied, once
 * and without overwriting.
 */
import { missableTable } from "./lazy-table";
import type { Sql } from "./sql";

export interface ConfigStore {
  /** The stored value, or null. */
  get(key: string): unknown;
  /** Stores a JSON value; `undefined` deletes the key. An unchanged value is not written. */
  set(key: string, value: unknown): void;
  /** Drops the cache: call it when a transaction that may have changed settings was rolled back. */
  refresh(): void;
}

const TABLE = `CREATE TABLE IF NOT EXISTS think_config (
  key TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL
) WITHOUT ROWID`;

const COPY_LEGACY = `INSERT OR IGNORE INTO think_config (key, value)
  SELECT key, value FROM assistant_config WHERE session_id = '' AND key IS NOT NULL AND value IS NOT NULL`;

/** The first releases had one setting, the author's, in a table of its own. */
const COPY_FIRST = `INSERT OR IGNORE INTO think_config (key, value)
  SELECT '_think_config', value FROM _think_config WHERE key = 'config' AND value IS NOT NULL`;

export function createConfigStore(sql: Sql): ConfigStore {
  const table = missableTable(sql, "think_config", () => {
    sql.exec(TABLE);
    // Older still is a layout without sessions; its rows belong to nobody we know.
    const columnsOf = (name: string) =>
      sql.exec<{ name: string }>(`PRAGMA table_info('${name}')`).map((column) => column.name);
    if (columnsOf("assistant_config").includes("session_id")) sql.exec(COPY_LEGACY);
    const first = columnsOf("_think_config");
    if (first.includes("key") && first.includes("value")) sql.exec(COPY_FIRST);
  });
  const cache = new Map<string, string | null>();

  const read = (key: string): string | null => {
    const cached = cache.get(key);
    if (cached !== undefined) return cached;
    const rows = table.exec<{ value: string }>("SELECT value FROM think_config WHERE key = ?", key);
    const stored = rows[0]?.value ?? null;
    cache.set(key, stored);
    return stored;
  };

  return {
    get(key) {
      const text = read(key);
      return text === null ? null : parse(text);
    },
    set(key, value) {
      const text = value === undefined ? null : JSON.stringify(value);
      if (text === read(key)) return;
      if (text === null) table.exec("DELETE FROM think_config WHERE key = ?", key);
      else {
        table.exec(
          "INSERT INTO think_config (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
          key,
          text
        );
      }
      cache.set(key, text);
    },
    refresh: () => cache.clear()
  };
}

/** A damaged value is as good as none: settings have defaults, and an object that cannot start helps nobody. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
