/**
 * Random workspaces and random scripts, compared with a plain tree of maps. Catches lost updates, lost deletions, lost
 * directories, type changes, leaked scratch files and wrong reports. Any storage can be put to this test.
 */
import fc from "fast-check";
import { expect } from "vitest";
import type { BashInput, BashOutput } from "./bash";
import type { WorkspaceLike } from "../../workspace/workspace-like";
import { isWithin, parentOf } from "../../workspace/paths";

const name = fc.constantFrom("a", "b", "tmp", "c.txt", "ü ~$x");
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => `/${names.join("/")}`);
const content = fc.oneof(
  fc
    .string({ unit: fc.constantFrom("x", "ä", "\n", "'", "\\", "€", " "), maxLength: 12 })
    .map((text) => new TextEncoder().encode(text)),
  fc.uint8Array({ maxLength: 12 })
);

type Step =
  | { readonly kind: "write" | "append"; readonly path: string; readonly content: Uint8Array }
  | {
      readonly kind: "remove" | "removeTree" | "makeDirectory" | "removeDirectory" | "read" | "touch";
      readonly path: string;
    }
  | { readonly kind: "move" | "copy"; readonly path: string; readonly to: string };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom("write" as const, "append" as const), path, content }),
  fc.record({
    kind: fc.constantFrom(
      "remove" as const,
      "removeTree" as const,
      "makeDirectory" as const,
      "removeDirectory" as const,
      "read" as const,
      "touch" as const
    ),
    path
  }),
  fc.record({ kind: fc.constantFrom("move" as const, "copy" as const), path, to: path })
);

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

/** The shell command of a step. Guards make the outcome of unusual cases the same in every shell. */
function command(item: Step): string {
  const at = quote(item.path);
  switch (item.kind) {
    case "write":
      return `[ -d ${at} ] || echo ${base64(item.content)} | base64 -d > ${at}`;
    case "append":
      return `[ -d ${at} ] || echo ${base64(item.content)} | base64 -d >> ${at}`;
    case "remove":
      return `[ -f ${at} ] && rm ${at}`;
    case "removeTree":
      return `rm -rf ${at}`;
    case "makeDirectory":
      return `mkdir -p ${at}`;
    case "removeDirectory":
      return `[ -d ${at} ] && rmdir ${at}`;
    case "read":
      return `find ${at} > /dev/null 2>&1; cat ${at} > /dev/null 2>&1`;
    case "touch":
      return `[ -f ${at} ] && touch ${at}`;
    case "move":
    case "copy": {
      const to = quote(item.to);
      const free = `[ -e ${at} ] && [ ! -e ${to} ] && [ -d ${quote(parentOf(item.to))} ]`;
      return item.kind === "copy" ? `${free} && cp -r ${at} ${to}` : `${free} && mv ${at} ${to}`;
    }
  }
}

/** `null` is a directory. */
type Tree = Map<string, Uint8Array | null>;

function ancestors(of: string): string[] {
  const found: string[] = [];
  for (let parent = parentOf(of); parent !== "/"; parent = parentOf(parent)) found.push(parent);
  return found.toReversed();
}

/** Makes parents; false when a file is in the way. */
function makeParents(tree: Tree, of: string): boolean {
  if (ancestors(of).some((parent) => tree.get(parent) instanceof Uint8Array)) return false;
  for (const parent of ancestors(of)) tree.set(parent, null);
  return true;
}

function put(tree: Tree, at: string, bytes: Uint8Array): void {
  if (tree.get(at) !== null && makeParents(tree, at)) tree.set(at, bytes);
}

function removeTree(tree: Tree, at: string): void {
  for (const item of tree.keys()) if (isWithin(at, item)) tree.delete(item);
}

function apply(tree: Tree, item: Step): void {
  const current = tree.get(item.path);
  switch (item.kind) {
    case "write":
      return put(tree, item.path, item.content);
    case "append":
      return put(tree, item.path, Uint8Array.of(...(current ?? []), ...item.content));
    case "remove":
      if (current instanceof Uint8Array) tree.delete(item.path);
      return;
    case "removeTree":
      return removeTree(tree, item.path);
    case "makeDirectory":
      if (!(current instanceof Uint8Array) && makeParents(tree, item.path)) tree.set(item.path, null);
      return;
    case "removeDirectory":
      if (current === null && [...tree.keys()].every((other) => parentOf(other) !== item.path))
        tree.delete(item.path);
      return;
    case "read":
    case "touch":
      return;
    case "move":
    case "copy": {
      const parent = parentOf(item.to);
      if (current === undefined || tree.has(item.to) || (parent !== "/" && tree.get(parent) !== null)) return;
      if (isWithin(item.path, item.to)) return;
      for (const [other, bytes] of tree) {
        if (isWithin(item.path, other)) tree.set(item.to + other.slice(item.path.length), bytes);
      }
      if (item.kind === "move") removeTree(tree, item.path);
    }
  }
}

async function treeOf(workspace: WorkspaceLike): Promise<Tree> {
  const tree: Tree = new Map();
  for (const entry of await workspace.glob("**")) {
    if (entry.path !== "/")
      tree.set(entry.path, entry.type === "file" ? await workspace.readFileBytes(entry.path) : null);
  }
  return tree;
}

const sorted = (tree: Tree) => [...tree].toSorted(([left], [right]) => (left < right ? -1 : 1));

function paths(tree: Tree, wanted: (path: string, bytes: Uint8Array | null) => boolean): string[] {
  return sorted(tree).flatMap(([at, bytes]) => (wanted(at, bytes) ? [at] : []));
}

function difference(before: Tree, after: Tree) {
  const isFile = (bytes: Uint8Array | null | undefined) => bytes instanceof Uint8Array;
  return {
    created: paths(after, (at, bytes) => isFile(bytes) && !isFile(before.get(at))),
    updated: paths(after, (at, bytes) => {
      const old = before.get(at);
      return bytes !== null && old instanceof Uint8Array && base64(old) !== base64(bytes);
    }),
    deleted: paths(before, (at, bytes) => isFile(bytes) && !isFile(after.get(at))),
    directoriesCreated: paths(after, (at, bytes) => bytes === null && before.get(at) !== null),
    directoriesDeleted: paths(before, (at, bytes) => bytes === null && after.get(at) !== null)
  };
}

export interface Scenario {
  readonly files: readonly (readonly [string, Uint8Array])[];
  readonly directories: readonly string[];
  readonly steps: readonly Step[];
}

export const scenario: fc.Arbitrary<Scenario> = fc.record({
  files: fc.array(fc.tuple(path, content), { maxLength: 8 }),
  directories: fc.array(path, { maxLength: 3 }),
  steps: fc.array(step, { minLength: 1, maxLength: 8 })
});

/** What stops a script, and before which of its steps. */
export interface Stop {
  readonly before: number;
  readonly command: string;
}

/**
 * Fills the workspace, runs the scenario's script, and compares what is stored and what is reported with the plain tree. Of a script that
 * is stopped, the steps before the stop count and no others.
 */
export async function checkWriteBack(
  workspace: WorkspaceLike,
  bash: { execute(input: BashInput): Promise<BashOutput> },
  { files, directories, steps }: Scenario,
  stop: Stop = { before: steps.length, command: "" }
): Promise<void> {
  for (const [at, bytes] of files)
    await Promise.resolve(workspace.writeFileBytes?.(at, bytes)).catch(() => undefined);
  for (const at of directories)
    await Promise.resolve(workspace.mkdir(at, { recursive: true })).catch(() => undefined);
  const before = await treeOf(workspace);
  const expected: Tree = new Map(before);
  // The shell always offers /tmp; a workspace without it keeps nothing of what happens there.
  expected.set("/tmp", expected.get("/tmp") ?? null);
  for (const item of steps.slice(0, stop.before)) apply(expected, item);
  for (const at of expected.keys()) if (isWithin("/tmp", at) && !before.has(at)) expected.delete(at);
  const script = steps.map(command).toSpliced(stop.before, 0, stop.command).join("\n");
  const output = await bash.execute({ script });
  const after = await treeOf(workspace);
  expect(sorted(after)).toEqual(sorted(expected));
  expect(output).toMatchObject({ changedFiles: difference(before, after) });
}
