/**
 * The handshake in a small world: two connections, a stream that starts, speaks, ends, fails or loses its isolate. Every order of events is tried
 * until no new situation appears; each connection's view is compared with what was really streamed.
 */
import { expect, it } from "vitest";
import { World, type Verify } from "./resume-world.test-support";

const verify: Verify = (actual, expected, promise) => expect(actual, promise).toEqual(expected);

const EVENTS: Readonly<Record<string, (world: World) => boolean>> = {
  "connect 0": (world) => world.connect(0),
  "connect 1": (world) => world.connect(1),
  "request 0": (world) => world.request(0),
  "request 1": (world) => world.request(1),
  "acknowledge 0": (world) => world.acknowledge(0, world.record?.requestId),
  "acknowledge 1": (world) => world.acknowledge(1, world.record?.requestId),
  "acknowledge an old offer 0": (world) => world.streams > 1 && world.acknowledge(0, "request-1"),
  "acknowledge an old offer 1": (world) => world.streams > 1 && world.acknowledge(1, "request-1"),
  "leave 0": (world) => world.leave(0),
  "leave 1": (world) => world.leave(1),
  start: (world) => world.start(),
  chunk: (world) => world.chunk(),
  "end well": (world) => world.end("completed"),
  "end badly": (world) => world.end("error"),
  evict: (world) => world.evict(),
  "want a continuation": (world) => world.want()
};

/** Only the last event is checked: the ones before it were the last of shorter paths. */
function worldAfter(path: readonly string[]): World | undefined {
  const world = new World(verify);
  const isPossible = path.every((name, position) => {
    world.isChecking = position === path.length - 1;
    return EVENTS[name]?.(world);
  });
  return isPossible ? world : undefined;
}

it("keeps every connection's view right in every order of offers, acceptances, chunks, ends and evictions (§2.6, §2.8, traps 1, 2, 4, 6)", () => {
  const seen = new Set<string>();
  let frontier: readonly (readonly string[])[] = [[]];
  while (frontier.length > 0) {
    const next: (readonly string[])[] = [];
    for (const path of frontier) {
      for (const name of Object.keys(EVENTS)) {
        const steps = [...path, name];
        try {
          const key = worldAfter(steps)?.key();
          if (key === undefined || seen.has(key)) continue;
          seen.add(key);
          next.push(steps);
        } catch (error) {
          throw new Error(`After ${steps.join(", ")}: ${String(error)}`, { cause: error });
        }
      }
    }
    frontier = next;
  }
  expect(seen.size).toBeGreaterThan(500);
}, 60_000);
