/**
 * The Worker Loader as the sandbox gets it: every isolate has a CPU limit, no network unless some was given, no Node.js, and can be
 * ended from outside. Used by the guarded executor, once per pass.
 */
export interface SandboxIsolate {
  /** CPU time of the isolate in ms. The platform enforces it; local runtimes do not. */
  readonly cpuMs: number;
  /** Further modules by import name. */
  readonly modules: Readonly<Record<string, string>>;
  /** Packages from npm expect Node.js. */
  readonly node: boolean;
}

export interface SandboxLoader {
  readonly loader: WorkerLoader;
  /** Ends what this loader has started and still runs. */
  end(): void;
}

/** The newest date without Node.js globals by default. */
const COMPATIBILITY_DATE = "2025-06-01";

export function sandboxLoader(loader: WorkerLoader, isolate: SandboxIsolate): SandboxLoader {
  const started: object[] = [];
  const load = (code: WorkerLoaderWorkerCode): WorkerStub => {
    const worker = loader.load({
      ...code,
      compatibilityDate: COMPATIBILITY_DATE,
      compatibilityFlags: isolate.node ? ["nodejs_compat"] : [],
      limits: { cpuMs: isolate.cpuMs },
      modules: {
        ...Object.fromEntries(Object.entries(isolate.modules).map(([name, js]) => [name, { js }])),
        ...code.modules
      },
      // Undefined would mean: the network of the agent.
      globalOutbound: code.globalOutbound ?? null
    });
    started.push(worker);
    return worker;
  };
  return {
    loader: {
      load,
      get: () => {
        throw new Error("The sandbox loads every isolate anew.");
      }
    },
    end() {
      for (const worker of started.splice(0)) dispose(worker);
    }
  };
}

function dispose(resource: object): void {
  if (!(Symbol.dispose in resource) || typeof resource[Symbol.dispose] !== "function") return;
  try {
    (resource as Disposable)[Symbol.dispose]();
  } catch {
    // It was gone already: that is what was wanted.
  }
}
