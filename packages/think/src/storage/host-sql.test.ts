import { describe, expect, it } from "vitest";
import { hostSql, isSqlHost, splitStatement, type SqlHost } from "./host-sql";

interface Call {
  readonly statement: string;
  readonly values: unknown[];
}

function tagHost(): { host: SqlHost; calls: Call[] } {
  const calls: Call[] = [];
  const host: SqlHost = {
    sql(strings, ...values) {
      calls.push({ statement: strings.join("?"), values });
      return [];
    }
  };
  return { host, calls };
}

describe("a host with only the sql tag", () => {
  it("gets each statement as a template with its values in order", () => {
    const { host, calls } = tagHost();
    hostSql(host).exec("SELECT * FROM t WHERE a = ? AND b = ?", 1, "x");
    hostSql(host).exec("SELECT 1");
    expect(calls).toEqual([
      { statement: "SELECT * FROM t WHERE a = ? AND b = ?", values: [1, "x"] },
      { statement: "SELECT 1", values: [] }
    ]);
  });

  it("gets a numbered value once for each use", () => {
    const { host, calls } = tagHost();
    hostSql(host).exec("SELECT ?2, ?1, ?2, ?", "a", "b", "c");
    expect(calls).toEqual([{ statement: "SELECT ?, ?, ?, ?", values: ["b", "a", "b", "c"] }]);
  });

  it("runs the work of a transaction and gives its result", () => {
    expect(hostSql(tagHost().host).transaction(() => 7)).toBe(7);
  });

  it("refuses a missing value and a binary one before anything runs", () => {
    const { host, calls } = tagHost();
    expect(() => hostSql(host).exec("SELECT ?, ?", 1)).toThrow("placeholder 2");
    expect(() => hostSql(host).exec("SELECT ?", new ArrayBuffer(1))).toThrow("binary");
    expect(calls).toEqual([]);
  });
});

describe("splitStatement", () => {
  it.each([
    ["SELECT '?' , ?", ["SELECT '?' , ", ""]],
    ["SELECT 'it''s ?', ?", ["SELECT 'it''s ?', ", ""]],
    ['SELECT "a?" FROM t -- why?\nWHERE x = ?', ['SELECT "a?" FROM t -- why?\nWHERE x = ', ""]],
    ["SELECT /* ? */ ?", ["SELECT /* ? */ ", ""]]
  ])("leaves question marks in quotes and comments alone: %s", (statement, strings) => {
    expect(splitStatement(statement)).toEqual({ strings, positions: [0] });
  });
});

describe("a host with storage", () => {
  it("is used through the storage, for statements and for transactions", () => {
    const { host, calls } = tagHost();
    const seen: unknown[] = [];
    const storage = {
      sql: {
        exec: (...parameters: unknown[]) => {
          seen.push(parameters);
          return { toArray: () => [{ n: 1 }] };
        }
      },
      transactionSync: (work: () => unknown) => {
        seen.push("transaction");
        return work();
      }
    };
    const sql = hostSql(Object.assign(host, { ctx: { storage } }));
    expect(sql.transaction(() => sql.exec("SELECT ?1 AS n", 1))).toEqual([{ n: 1 }]);
    expect(seen).toEqual(["transaction", ["SELECT ?1 AS n", 1]]);
    expect(calls).toEqual([]);
  });

  it.each([{ ctx: {} }, { ctx: { storage: { sql: {} } } }, { ctx: null }])(
    "is used through its tag when the storage is something else: %j",
    (extra) => {
      const { host, calls } = tagHost();
      hostSql(Object.assign(host, extra)).exec("SELECT 1");
      expect(calls).toHaveLength(1);
    }
  );
});

describe("isSqlHost", () => {
  it("knows a tag by its being a function", () => {
    expect(isSqlHost(tagHost().host)).toBe(true);
    expect([null, undefined, 1, {}, { sql: { exec: () => [] } }, []].map(isSqlHost)).toEqual(
      Array(6).fill(false)
    );
  });
});
