/**
 * One turn of fifty steps that is killed as planned, and what must hold of it afterwards. The runtime is kept for the next turn: only a kill
 * makes a new one.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { UIMessage } from "ai";
import { expect, inject, vi } from "vitest";
import type { Fault } from "../../worker/fault-points";
import { startWorkerd, type Runtime, type RuntimeOptions } from "./runtime";
import { QUESTION, resultOf, Watcher, type Shown } from "./watcher";

/** Kills at a named write, or when the tab has received so many frames. */
export type Kill = Fault | { readonly frames: number };

const STEPS = 50;
/** Longest wait for a fault point (milliseconds). */
const PATIENCE = 60_000;

export class Arena {
  readonly #start: (options: RuntimeOptions) => Promise<Runtime>;
  readonly #state: string;
  #runtime: Runtime | undefined;
  turns = 0;
  kills = 0;
  recoveries = 0;
  /** Kills that came too late: the turn was over before the point. */
  missed = 0;
  /** The longest time from a start to the end of the recovered turn, in ms. */
  longest = 0;
  /** Steps that were in flight at a kill and ran once more. */
  repeats = 0;

  private constructor(state: string, start: (options: RuntimeOptions) => Promise<Runtime>) {
    this.#state = state;
    this.#start = start;
  }

  static async open(start = startWorkerd): Promise<Arena> {
    return new Arena(await mkdtemp(join(tmpdir(), "kill-state-")), start);
  }

  async close(): Promise<void> {
    await this.#runtime?.kill();
    await rm(this.#state, { recursive: true, force: true });
  }

  /** Runs a turn through the kills and checks everything that must hold. */
  async survives(kills: readonly Kill[]): Promise<void> {
    const name = `turn-${(this.turns += 1)}`;
    const tab = new Watcher(name);
    try {
      await this.#live(name, tab, kills);
    } catch (error) {
      const said = this.#runtime?.output() ?? "";
      throw new Error(`A turn did not survive ${JSON.stringify(kills)}. The runtime said: ${said}`, {
        cause: error
      });
    } finally {
      await tab.close();
    }
  }

  /** A turn that nobody watches is killed and carried on by its alarm alone: nobody visits the agent until it is done. */
  async survivesAlone(): Promise<void> {
    const name = `turn-${(this.turns += 1)}`;
    await this.#wake();
    await this.#arm(name, { write: "INSERT cf_ai_chat_stream_chunks", ordinal: 40, when: "after" });
    const asked = fetch(`${this.#address(name)}/ask`, { method: "POST" });
    await this.#halted();
    await this.#kill();
    await asked.catch(() => undefined);
    await this.#wake();
    await vi.waitFor(async () => expect((await this.#runs(name)).at(-1)?.step).toBe(STEPS), {
      timeout: 60_000,
      interval: 500
    });
    await this.#check(name, new Watcher(name), 1);
  }

  /** The writes of a turn that nobody disturbs, and those of the recovery of a turn that was killed in the middle. */
  async rehearse(): Promise<{ readonly healthy: readonly string[]; readonly recovered: readonly string[] }> {
    const points = async (name: string) =>
      (await (await fetch(`${this.#address(name)}/points`)).json()) as string[];
    const healthy = new Watcher("rehearsal");
    await healthy.connect(await this.#wake());
    await this.#arm("rehearsal", null);
    healthy.ask();
    await healthy.seesTheEnd();
    const written = await points("rehearsal");
    await healthy.close();
    const killed = new Watcher("rehearsal-of-recovery");
    await killed.connect(await this.#wake());
    killed.ask();
    await killed.hasFrames(150);
    await this.#kill();
    // A place that is never reached: the writes are only counted.
    const nowhere = { name: "rehearsal-of-recovery", write: "none", ordinal: 1, when: "before" } as const;
    await killed.connect(await this.#wake(nowhere));
    await killed.seesTheEnd();
    await killed.close();
    await this.#isAtRest("rehearsal-of-recovery");
    return { healthy: written, recovered: await points("rehearsal-of-recovery") };
  }

  async #live(name: string, tab: Watcher, kills: readonly Kill[]): Promise<void> {
    for (const [index, kill] of kills.entries()) {
      const isNamed = "write" in kill;
      const url = await this.#wake(isNamed && index > 0 ? { name, ...kill } : undefined);
      // A runtime that was kept from the last turn is told here where to stop.
      if (isNamed && index === 0) await this.#arm(name, kill);
      const over = tab.visits(url);
      const isReached = await Promise.race([
        (isNamed ? this.#halted() : tab.hasFrames(kill.frames)).then(() => true),
        over.then(() => false)
      ]);
      if (!isReached) this.missed += 1;
      await this.#kill();
    }
    const returned = performance.now();
    const { recovered } = await tab.visits(await this.#wake());
    if (recovered) this.recoveries += 1;
    this.longest = Math.max(this.longest, performance.now() - returned);
    await this.#check(name, tab, kills.length);
  }

  async #halted(): Promise<void> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error("The runtime came to no fault point.")), PATIENCE);
    try {
      await Promise.race([this.#runtime?.halted, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #check(name: string, tab: Watcher, kills: number): Promise<void> {
    tab.remember();
    const messages = await this.#history(name);
    expect(messages.filter(({ role }) => role === "user").map(({ id }) => id)).toEqual([QUESTION.id]);
    expect(messages.at(-1)?.parts.at(-1)).toMatchObject({ text: `All ${STEPS} steps are done.` });
    // Every step is settled exactly once.
    const settled = messages.flatMap(({ parts }) => parts.flatMap(resultOf));
    expect(settled.map(({ step }) => step)).toEqual(Array.from({ length: STEPS }, (_, index) => index + 1));
    // Nothing that was shown is lost.
    const kept = new Map(settled.map((result) => [result.run, result]));
    for (const result of tab.shown.values()) expect(kept.get(result.run)).toEqual(result);
    // What is settled never ran again, and each kill repeats one step at most.
    const runs = await this.#runs(name);
    for (const { step, run } of settled)
      expect(runs.findLast((candidate) => candidate.step === step)?.run).toBe(run);
    expect(runs.length).toBeLessThanOrEqual(STEPS + kills);
    this.repeats += runs.length - STEPS;
    await this.#isAtRest(name);
  }

  async #isAtRest(name: string): Promise<void> {
    const rest = { keys: [], schedules: [], alarm: null };
    await vi.waitFor(
      async () => expect(await (await fetch(`${this.#address(name)}/rest`)).json()).toEqual(rest),
      { timeout: PATIENCE, interval: 30 }
    );
  }

  async #history(name: string): Promise<UIMessage[]> {
    return (await (await fetch(`${this.#address(name)}/get-messages`)).json()) as UIMessage[];
  }

  async #runs(name: string): Promise<Shown[]> {
    return (await (await fetch(`${this.#url}/ledger/${name}`)).json()) as Shown[];
  }

  async #arm(name: string, fault: Fault | null): Promise<void> {
    await fetch(`${this.#address(name)}/arm`, { method: "POST", body: JSON.stringify(fault) });
  }

  get #url(): string {
    if (!this.#runtime) throw new Error("Nothing runs.");
    return this.#runtime.url;
  }

  #address(name: string): string {
    return `${this.#url}/agents/chat/${name}`;
  }

  /** The address of the running process, or of a new one that stops at the fault. */
  async #wake(fault?: Fault & { readonly name: string }): Promise<string> {
    this.#runtime ??= await this.#start({
      ...{ bundle: inject("bundle"), state: this.#state },
      fault: fault && JSON.stringify(fault)
    });
    return this.#runtime.url;
  }

  async #kill(): Promise<void> {
    this.kills += 1;
    await this.#runtime?.kill();
    this.#runtime = undefined;
  }
}
