/** A parent with a helper, under fresh names. */
import { env } from "cloudflare:workers";
import { crash, runInAgent, scriptedModel, type Script, type ScriptedModel } from "@cloudflare/think/testing";
import { useHelperModel, useOrchestrator, type OrchestratorSetup } from "./worker/orchestrator-agents";

let counter = 0;

export interface Family {
  readonly parent: string;
  readonly helper: string;
  readonly model: ScriptedModel;
  /** A new stub each time: a crash breaks the old one. */
  stub(): ReturnType<typeof env.Orchestrator.getByName>;
  /** Lets the helper answer one question. */
  ask(): Promise<string>;
  file(operation: "read" | "write" | "list" | "remove", path: string, content?: string): Promise<string>;
  /** Writes into the parent's own workspace. */
  write(path: string, content: string): Promise<void>;
}

export function newFamily(script: Script, bridge?: OrchestratorSetup["bridge"]): Family {
  const parent = `orchestrator-${(counter += 1)}`;
  const helper = `helper-${counter}`;
  const model = scriptedModel(script);
  useOrchestrator(parent, bridge ? { bridge } : {});
  useHelperModel(helper, model);
  const stub = () => env.Orchestrator.getByName(parent);
  return {
    ...{ parent, helper, model, stub },
    ask: () => stub().ask(helper, "Go on."),
    file: (operation, path, content) => stub().fileOf(helper, operation, path, content),
    write: (path, content) => runInAgent(stub(), (agent) => agent.workspace.writeFile(path, content))
  };
}

/** What the model was told in a call, as text. */
export function told(model: ScriptedModel, call: number): string {
  return JSON.stringify(model.calls[call]?.prompt);
}

export { crash };
