// `pnpm build`: the package's `dist`, rebuilt always.
import { ensureBuilt } from "./lib/build.mjs";

const { ok, output } = await ensureBuilt({ force: true });
process.stdout.write(output);
if (!ok) process.exitCode = 1;
