/** The place of tier 4, a container with real processes. The tools do not exist yet; the factory keeps applications compiling. */
import type { ToolSet } from "ai";

export interface SandboxToolsOptions {
  /** Run time of a command in ms. Default: 30,000. Not used yet. */
  readonly timeout?: number;
}

let warned = false;

/** Returns no tools, and says so once per isolate. `binding` is the container's binding; it is not touched. */
export function createSandboxTools(_binding?: unknown, _options: SandboxToolsOptions = {}): ToolSet {
  if (!warned) {
    warned = true;
    console.warn(
      "[Think] createSandboxTools() is not implemented yet and adds no tools. Use bash or execute meanwhile."
    );
  }
  return {};
}
