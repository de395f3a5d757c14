import { describe, expect, it } from "vitest";
import { splitStatements } from "./split-statements";

describe("splitStatements", () => {
  it("leaves a single statement as it is", () => {
    expect(splitStatements("SELECT 1")).toEqual(["SELECT 1"]);
    expect(splitStatements("SELECT 1;")).toEqual(["SELECT 1;"]);
  });

  it("cuts after each semicolon and drops empty statements and trailing comments", () => {
    expect(splitStatements("SELECT 1; ;SELECT 2;\n-- the end; really\n")).toEqual(["SELECT 1;", "SELECT 2;"]);
  });

  it("does not cut inside quotes and comments", () => {
    for (const quoted of ["'a;''b'", '"a;""b"', "`a;b`", "[a;b]", "1 /* a;b */", "1 -- a;b\n"]) {
      expect(splitStatements(`SELECT ${quoted}`)).toEqual([`SELECT ${quoted}`]);
      expect(splitStatements(`SELECT ${quoted}; SELECT 2`)).toHaveLength(2);
    }
  });

  it("does not cut the body of a trigger", () => {
    const trigger = "CREATE TEMP TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM b; DELETE FROM c; END;";
    expect(splitStatements(trigger)).toEqual([trigger]);
  });

  it("passes on a text without any statement, so that the database can refuse it", () => {
    expect(splitStatements(" ; ")).toEqual([" ; "]);
  });
});
