/** An agent whose workspace keeps large files in R2. */
import { Think, Workspace } from "@cloudflare/think";
import type { LanguageModel } from "ai";

declare global {
  namespace Cloudflare {
    interface Env {
      readonly FILES: R2Bucket;
      readonly FilesAgent: DurableObjectNamespace<FilesAgent>;
    }
  }
}

const models = new Map<string, LanguageModel>();

export function useFilesModel(name: string, model: LanguageModel): void {
  models.set(name, model);
}

class CountedWorkspace extends Workspace {
  static made = new WeakMap<object, number>();
}

export class FilesAgent extends Think<Cloudflare.Env> {
  override workspace = count(
    this,
    new CountedWorkspace({
      sql: this.ctx.storage.sql,
      r2: this.env.FILES,
      inlineThreshold: 20,
      name: () => this.name
    })
  );

  override getModel(): LanguageModel {
    return models.get(this.name) ?? super.getModel();
  }
}

function count(agent: object, workspace: Workspace): Workspace {
  CountedWorkspace.made.set(agent, (CountedWorkspace.made.get(agent) ?? 0) + 1);
  return workspace;
}

/** How many workspaces an agent has; the default would disagree with the field about R2 and throw when made. */
export function constructed(agent: FilesAgent): number {
  return agent.workspace instanceof CountedWorkspace ? (CountedWorkspace.made.get(agent) ?? 0) : -1;
}
