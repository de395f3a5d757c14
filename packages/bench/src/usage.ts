/** What a process has used so far, as Linux counts it. */
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** Readings this far apart show whether anything is going on, in ms. */
const STEP = 10;
/** A process that uses less than this in a step is at rest, in ms. */
const REST = 0.3;
/** Longest wait for rest, in ms. */
const PATIENCE = 5_000;

export class Usage {
  readonly #folder: string;
  readonly #threads = new Map<string, number>();

  constructor(pid: number) {
    this.#folder = `/proc/${pid}`;
    if (!existsSync(`${this.#folder}/schedstat`))
      throw new Error("The bench reads the use of a process from /proc, which only Linux has. Run it there.");
  }

  /** CPU time of all threads, in ms. A thread that has ended counts with what was seen of it. */
  cpuMs(): number {
    for (const thread of readdirSync(`${this.#folder}/task`)) {
      const [nanoseconds] = readThread(`${this.#folder}/task/${thread}/schedstat`)?.split(" ") ?? [];
      if (nanoseconds !== undefined) this.#threads.set(thread, Number(nanoseconds) / 1e6);
    }
    return sum([...this.#threads.values()]);
  }

  /** Bytes that went, or will go, to a disk. */
  bytesWritten(): number {
    const io = readFileSync(`${this.#folder}/io`, "utf8");
    return Number(/^write_bytes: (\d+)$/mu.exec(io)?.[1]);
  }

  /** Resolves when the process does nothing: what it had still to do after the last frame counts too. */
  async rest(): Promise<void> {
    const deadline = performance.now() + PATIENCE;
    let before = this.cpuMs();
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, STEP));
      const now = this.cpuMs();
      if (now - before < REST || performance.now() > deadline) return;
      before = now;
    }
  }
}

/** Undefined when the thread has ended since it was listed. */
function readThread(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
