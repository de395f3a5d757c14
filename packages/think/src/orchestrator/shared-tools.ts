/**
 * The tools that a bridge shares: looked up, checked and described. Called by `tool-calls.ts` for each use, because MCP servers come and go.
 *
 * I1. Only own, enumerable properties of the author's set count.
 * I2. A set with a tool that cannot be shared is refused as a whole: a tool that silently goes missing is found much later.
 */
import type { ToolSet } from "ai";
import { inputJsonSchema, type SdkTool } from "../loop/sdk-tool";
import { ThinkError } from "../shared/errors/think-error";
import { isRecord } from "../shared/json";
import { ORCHESTRATOR_LIMITS } from "../shared/limits";
import type { SharedTool } from "./bridge-protocol";

/** Tools, or a function that returns the present ones. */
export type ToolSource = ToolSet | (() => ToolSet | Promise<ToolSet>);

/** What the model APIs accept. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const PROTOTYPE_NAMES = new Set(["__proto__", "constructor", "prototype"]);

export function isToolName(name: string): boolean {
  return NAME.test(name) && !PROTOTYPE_NAMES.has(name);
}

/** The shared tools by name. */
export async function sharedTools(source: ToolSource | undefined): Promise<ReadonlyMap<string, SdkTool>> {
  const tools = (typeof source === "function" ? await source() : source) ?? {};
  const entries = Object.entries(tools);
  if (entries.length > ORCHESTRATOR_LIMITS.sharedTools) {
    throw misuse(
      `A bridge shares at most ${ORCHESTRATOR_LIMITS.sharedTools} tools, and this one has ${entries.length}. Share fewer.`
    );
  }
  for (const [name, tool] of entries) checkShareable(name, tool);
  return new Map(entries);
}

export async function describeTools(tools: ReadonlyMap<string, SdkTool>): Promise<SharedTool[]> {
  return Promise.all(Array.from(tools, ([name, tool]) => describe(name, tool)));
}

async function describe(name: string, tool: SdkTool): Promise<SharedTool> {
  const schema = await inputJsonSchema(tool);
  const inputSchema = isRecord(schema) ? schema : { type: "object" };
  if (JSON.stringify(inputSchema).length > ORCHESTRATOR_LIMITS.schemaChars) {
    throw misuse(
      `The input schema of the tool "${name}" is larger than ${ORCHESTRATOR_LIMITS.schemaChars} characters; share a simpler tool.`
    );
  }
  // The newer SDK also takes a function, which wants to see a turn; there is none here.
  const { description }: { readonly description?: unknown } = tool;
  const text = typeof description === "string" ? description : "";
  return { name, description: text.slice(0, ORCHESTRATOR_LIMITS.descriptionChars), inputSchema };
}

function checkShareable(name: string, tool: SdkTool): void {
  if (!isToolName(name)) {
    throw misuse(
      `A tool named ${JSON.stringify(name.slice(0, 80))} cannot be shared: use up to 64 letters, digits, "_" and "-", and no name of the prototype.`
    );
  }
  if (typeof tool.execute !== "function") {
    throw misuse(
      `The tool "${name}" has no execute() and cannot be shared: it runs in a client, and the child has none.`
    );
  }
  if (tool.needsApproval !== undefined && tool.needsApproval !== false) {
    throw misuse(
      `The tool "${name}" needs approval and cannot be shared: a child has nobody to ask. Share one without needsApproval.`
    );
  }
}

function misuse(message: string): ThinkError {
  return new ThinkError(message, { code: "invalid-option" });
}
