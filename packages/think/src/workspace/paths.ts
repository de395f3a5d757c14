/**
 * Workspace paths: absolute, `/`-separated, without `.` and `..`. The rules are those of the stock workspace, plus a
 * refusal of text that its SQL table could not give back unchanged (NUL, lone surrogates).
 */

/** Longest path, in UTF-16 code units; the stock workspace refuses longer ones. */
export const MAX_PATH_CHARS = 4096;

export type PathResult =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly error: string };

/** Makes a path absolute and resolves `.` and `..`, never above the root. Refuses what cannot be a path. */
export function parsePath(input: string): PathResult {
  if (input.length > MAX_PATH_CHARS) {
    return { ok: false, error: `The path is longer than ${MAX_PATH_CHARS} characters; use a shorter one.` };
  }
  if (input.includes("\0")) {
    return { ok: false, error: "The path contains a NUL character; remove it." };
  }
  if (!input.isWellFormed()) {
    return { ok: false, error: "The path is not valid Unicode (a lone surrogate); use a plain name." };
  }
  return { ok: true, path: normalizePath(input) };
}

/** `normalizePath("a/./b/../c")` is `"/a/c"`. */
export function normalizePath(path: string): string {
  const resolved: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") resolved.pop();
    else if (segment !== "" && segment !== ".") resolved.push(segment);
  }
  return `/${resolved.join("/")}`;
}

/** The names along a normalised path; none for the root. */
export function segmentsOf(path: string): string[] {
  return path === "/" ? [] : path.slice(1).split("/");
}

/** The directory that holds a normalised path; the root holds itself. */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash <= 0 ? "/" : path.slice(0, slash);
}

/** The last name of a normalised path; empty for the root. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

export function joinPath(directory: string, name: string): string {
  return directory === "/" ? `/${name}` : `${directory}/${name}`;
}

/** Whether `path` is `directory` or lies below it. */
export function isWithin(directory: string, path: string): boolean {
  return directory === "/" || path === directory || path.startsWith(`${directory}/`);
}
