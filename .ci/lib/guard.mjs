// Runs a program in its own group for a script that may be killed without a word: `node guard.mjs <pid of the script> <program> …`.
// Invariant: when the script is gone, the whole group goes, within a second.
import { spawn } from "node:child_process";
import { endGroup } from "./run.mjs";

const [script, program = "", ...args] = process.argv.slice(2);
const child = spawn(program, args, { stdio: "inherit" });
child.on("error", (error) => {
  console.error(error.message);
  process.exit(1);
});
child.on("exit", (code) => process.exit(code ?? 1));
setInterval(() => {
  if (process.ppid !== Number(script)) endGroup(process.pid, "SIGKILL");
}, 500);
