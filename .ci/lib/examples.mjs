// The examples that `npm start` can serve.
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { fromRoot } from "./paths.mjs";

/** Served when none is named. */
const usual = "assistant";

/** Names of the examples with a page. */
export function exampleNames() {
  return readdirSync(fromRoot("examples")).filter((name) =>
    existsSync(fromRoot("examples", name, "vite.config.ts"))
  );
}

/**
 * @param {string | undefined} asked
 * @returns {{ name: string, folder: string }}
 */
export function chosenExample(asked) {
  const names = exampleNames();
  const name = asked === undefined || asked === "" ? usual : asked;
  if (!names.includes(name)) {
    throw new Error(`There is no example "${name}": use ${names.map((known) => `"${known}"`).join(" or ")}.`);
  }
  return { name, folder: path.join(fromRoot("examples"), name) };
}
