/**
 * Packages for the sandbox (tier 2): bundled by `@cloudflare/worker-bundler`, then plain modules that code imports by name. A tool is made
 * anew for each turn; what was bundled stays in the isolate, so that only its first run pays. With packages the model may also write
 * TypeScript. The bundler is large and only loaded when it is needed.
 */
import { parse } from "acorn";
import { errorText } from "../../shared/errors/error-text";
import { EXECUTE_LIMITS } from "../../shared/limits";

/** Package name to a version or range, fetched from the registry, or to the package's own files by path. */
export type ExecutePackages = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

type Modules = Readonly<Record<string, string>>;

/**
 * What this isolate has bundled, by packages and registry; the oldest goes first. Results, not promises: a promise of one object's request
 * may never resolve for another's.
 */
const bundled = new Map<string, Modules>();

export class PackageShelf {
  readonly #packages: ExecutePackages;
  readonly #registry: string | undefined;
  #modules: Promise<Modules> | undefined;

  constructor(packages: ExecutePackages, registry?: string) {
    this.#packages = packages;
    this.#registry = registry;
  }

  get names(): readonly string[] {
    return Object.keys(this.#packages);
  }

  /** Import name to JavaScript. A failure is not remembered: the registry may answer the next time. */
  modules(): Promise<Modules> {
    return (this.#modules ??= this.#take().catch((error: unknown) => {
      this.#modules = undefined;
      throw error;
    }));
  }

  async #take(): Promise<Modules> {
    const key = JSON.stringify([this.#registry, this.#packages]);
    const known = bundled.get(key);
    if (known) return known;
    const modules = await this.#bundleAll();
    bundled.set(key, modules);
    for (const oldest of bundled.keys()) {
      if (bundled.size <= EXECUTE_LIMITS.bundledSets) break;
      bundled.delete(oldest);
    }
    return modules;
  }

  async #bundleAll(): Promise<Modules> {
    const entries = Object.entries(this.#packages).map(async ([name, source]) => [
      name,
      await this.#bundle(name, source)
    ]);
    return Object.fromEntries(await Promise.all(entries));
  }

  async #bundle(name: string, source: string | Readonly<Record<string, string>>): Promise<string> {
    const entry = `import * as all from "${name}"; export * from "${name}"; export default all.default ?? all;`;
    const files =
      typeof source === "string"
        ? { "package.json": JSON.stringify({ dependencies: { [name]: source } }) }
        : Object.fromEntries(
            Object.entries(source).map(([path, text]) => [`node_modules/${name}/${path}`, text])
          );
    try {
      const { text, warnings } = await build(
        { ...files, "entry.js": entry },
        "entry.js",
        true,
        this.#registry
      );
      // What was not found stays an import, and would import itself.
      if (imports(text).includes(name)) throw new Error(warnings.join("; ") || "it was not found");
      return text;
    } catch (error) {
      throw new Error(
        `The package ${name} could not be prepared (${errorText(error)}); tell the user, or do without it.`,
        { cause: error }
      );
    }
  }
}

/** JavaScript of what the model wrote. Code that is no TypeScript either is returned as it is: the sandbox explains what is wrong. */
export async function toJavaScript(code: string): Promise<string> {
  const source = withoutFence(code);
  if (isJavaScript(source)) return code;
  try {
    return (await build({ "code.ts": source }, "code.ts", false)).text;
  } catch {
    return code;
  }
}

function withoutFence(code: string): string {
  const fenced = /^\s*```[a-z]*\n([\s\S]*?)\n?```\s*$/.exec(code);
  return fenced?.[1] ?? code;
}

function imports(module: string): unknown[] {
  const { body } = parse(module, { ecmaVersion: "latest", sourceType: "module" });
  return body.flatMap((node) => ("source" in node && node.source ? [node.source.value] : []));
}

function isJavaScript(source: string): boolean {
  try {
    parse(source, { ecmaVersion: "latest", sourceType: "module", allowAwaitOutsideFunction: true });
    return true;
  } catch {
    return false;
  }
}

async function build(
  files: Readonly<Record<string, string>>,
  entryPoint: string,
  bundle: boolean,
  registry?: string
): Promise<{ readonly text: string; readonly warnings: readonly string[] }> {
  const { createWorker } = await import("@cloudflare/worker-bundler");
  const flags = JSON.stringify({ compatibility_flags: ["nodejs_compat"] });
  const {
    mainModule,
    modules,
    warnings = []
  } = await createWorker({
    files: { ...files, "wrangler.json": flags },
    ...{ entryPoint, bundle },
    ...(registry === undefined ? {} : { registry })
  });
  const main = modules[mainModule];
  const text = typeof main === "string" ? main : main?.js;
  if (text === undefined) throw new Error("the bundler produced no module");
  return { text, warnings };
}
