/** What the file tools cost on many files: statements and rows of the agent's storage. Counts, the same in every run. */
import type { FileCost } from "../worker/file-cost.ts";
import { print, table } from "./report.ts";
import type { Runtime } from "./workerd.ts";

const GOALS =
  "Goals at 1,000 files: grep everywhere at most 1,100 rows in 20 statements; `true` none, and no row written by what changes nothing.";

export async function fileCosts({ url }: Runtime, files: number): Promise<void> {
  const address = new URL(`/agents/files/${crypto.randomUUID()}?files=${files}`, url.replace("ws:", "http:"));
  const response = await fetch(address);
  if (!response.ok) throw new Error(`Measuring the file tools failed: ${await response.text()}`);
  const costs = (await response.json()) as FileCost[];
  print(`File tools on ${files.toLocaleString("en")} files`);
  print(
    table([
      ["", "statements", "rows read", "rows written"],
      ...costs.map(({ work, statements, rowsRead, rowsWritten }) => [
        work,
        ...[statements, rowsRead, rowsWritten].map(String)
      ])
    ])
  );
  print(`${GOALS}\n`);
}
