/** An empty Durable Object whose storage the tests of the workspace tools work in. */
import { DurableObject } from "cloudflare:workers";

declare global {
  namespace Cloudflare {
    interface Env {
      readonly ToolsLab: DurableObjectNamespace<ToolsLab>;
    }
  }
}

export class ToolsLab extends DurableObject<Cloudflare.Env> {}
