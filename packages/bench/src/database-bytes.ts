/** Bytes that a paced answer writes to disk: text comes slowly, so whatever is flushed on time is flushed often. */
import { connect } from "./clients.ts";
import { print, table } from "./report.ts";
import { Usage } from "./usage.ts";
import type { Runtime } from "./workerd.ts";

const GOAL_MB = 1.1;
const PLAN = { deltas: 3000, pauseMs: 5 };

export async function databaseBytes({ pid, url }: Runtime, turns: number): Promise<void> {
  const usage = new Usage(pid);
  const written: string[][] = [];
  for (let turn = 1; turn <= turns; turn += 1) {
    const clients = await connect(`${url}/agents/chat/${crypto.randomUUID()}`, 1);
    await usage.rest();
    const before = usage.bytesWritten();
    await clients.ask(PLAN);
    await usage.rest();
    const megabytes = (usage.bytesWritten() - before) / 1e6;
    if (megabytes === 0) throw new Error("No bytes were counted: is the repository on a disk in memory?");
    written.push([`turn ${turn}`, megabytes.toFixed(2)]);
    clients.close();
  }
  print(`Bytes written by a new agent's answer of ${PLAN.deltas} deltas, ${PLAN.pauseMs} ms apart`);
  print(table([["", "MB"], ...written]));
  print(`Goal: at most ${GOAL_MB} MB.\n`);
}
