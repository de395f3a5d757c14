/** Writes down, outside the agent, that a tool has run: what the kill tests believe about "ran twice" comes from here. */
import { DurableObject } from "cloudflare:workers";

export interface Run {
  readonly run: number;
  readonly step: number;
}

export class Ledger extends DurableObject<Cloudflare.Env> {
  /** Returns the number of the run, unique in this ledger. Durable before the caller sees it. */
  record(step: number): number {
    const { sql } = this.ctx.storage;
    sql.exec(
      "CREATE TABLE IF NOT EXISTS runs (run INTEGER PRIMARY KEY AUTOINCREMENT, step INTEGER NOT NULL)"
    );
    return sql.exec<{ run: number }>("INSERT INTO runs (step) VALUES (?) RETURNING run", step).one().run;
  }

  runs(): Run[] {
    const { sql } = this.ctx.storage;
    sql.exec(
      "CREATE TABLE IF NOT EXISTS runs (run INTEGER PRIMARY KEY AUTOINCREMENT, step INTEGER NOT NULL)"
    );
    return sql.exec<{ run: number; step: number }>("SELECT run, step FROM runs ORDER BY run").toArray();
  }
}
