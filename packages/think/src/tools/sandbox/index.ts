export { createSandboxTools, type SandboxToolsOptions } from "./sandbox-tools";
