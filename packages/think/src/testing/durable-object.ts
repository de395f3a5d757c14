/**
 * What tests do to a whole Durable Object: look inside, evict it, crash it, fire its alarm. Thin functions
 * over the workers test runner's own module, which is loaded only when one of them is called: importing
 * this subpath works everywhere.
 */

type Branded = Rpc.DurableObjectBranded | undefined;

/** What happens to open sockets: `hibernate` keeps them, `close` drops them (clients see code 1006). */
export interface EvictOptions {
  /** Default `"hibernate"`. */
  readonly webSockets?: "hibernate" | "close";
}

/** The part of the test runner's module this file needs. */
interface TestRunner {
  runInDurableObject<Result>(
    stub: DurableObjectStub<Branded>,
    callback: (instance: never, state: DurableObjectState) => Result | Promise<Result>
  ): Promise<Result>;
  runDurableObjectAlarm(stub: DurableObjectStub<Branded>): Promise<boolean>;
  evictDurableObject(stub: DurableObjectStub<Branded>, options?: EvictOptions): Promise<void>;
  evictAllDurableObjects(options?: EvictOptions): Promise<void>;
  abortAllDurableObjects(): Promise<void>;
}

/** Runs a function inside the object, with the instance and its state. Return plain data, not live objects. */
export async function runInAgent<Instance extends Rpc.DurableObjectBranded, Result>(
  stub: DurableObjectStub<Instance>,
  work: (agent: Instance, state: DurableObjectState) => Result | Promise<Result>
): Promise<Result> {
  const runner = await testRunner();
  return runner.runInDurableObject(stub, work);
}

/** Removes the object from memory gently, as an idle object is: storage stays, the next event starts it anew. */
export async function evict(stub: DurableObjectStub<Branded>, options?: EvictOptions): Promise<void> {
  const runner = await testRunner();
  await runner.evictDurableObject(stub, options);
}

/** Evicts every object, sub-agents included. */
export async function evictAll(options?: EvictOptions): Promise<void> {
  const runner = await testRunner();
  await runner.evictAllDurableObjects(options);
}

/**
 * Kills the object in mid-air, as a crash or a deployment: work in progress and sockets are lost, storage
 * stays. Its sub-agents go with it. Take a new stub afterwards.
 */
export async function crash(stub: DurableObjectStub<Branded>): Promise<void> {
  const runner = await testRunner();
  try {
    await runner.runInDurableObject(stub, (_instance: unknown, state) => state.abort(crashReason));
  } catch (error) {
    // The abort also breaks the very call that asked for it.
    if (!String(error).includes(crashReason)) throw error;
  }
}

/** Crashes every object. */
export async function crashAll(): Promise<void> {
  const runner = await testRunner();
  await runner.abortAllDurableObjects();
}

/** Runs the object's alarm now if one is set; only jobs that are due run. True when there was an alarm. */
export async function fireAlarm(stub: DurableObjectStub<Branded>): Promise<boolean> {
  const runner = await testRunner();
  return runner.runDurableObjectAlarm(stub);
}

const crashReason = "crashed by the test";

async function testRunner(): Promise<TestRunner> {
  // Not a literal: a bundler that does not know the module must not try to resolve it.
  const specifier = "cloudflare:test";
  try {
    return await import(/* @vite-ignore */ specifier);
  } catch (cause) {
    // Loading the module also loads the Worker under test; a mistake in there must be seen as it is.
    if (!String(cause).includes("cloudflare:")) throw cause;
    throw new Error(
      "This helper works only inside a test run by the Cloudflare vitest integration, which provides cloudflare:test.",
      { cause }
    );
  }
}
