/** A fresh agent of the loop tests with a scripted model, and ways to reach it. */
import { env, exports } from "cloudflare:workers";
import { connectChat, runInAgent, scriptedModel, type Script } from "@cloudflare/think/testing";
import { useLoop, type LoopSetup, type LoopTestAgent } from "./worker/loop-agents";

declare global {
  namespace Cloudflare {
    interface Env {
      readonly LoopTestAgent: DurableObjectNamespace<LoopTestAgent>;
    }
  }
}

let counter = 0;

export async function newLoop(script: Script, setup: Omit<LoopSetup, "model"> = {}) {
  const name = `loop-${(counter += 1)}-${crypto.randomUUID().slice(0, 8)}`;
  const model = scriptedModel(script);
  useLoop(name, { ...setup, model });
  const stub = () => env.LoopTestAgent.getByName(name);
  // A stub's types cannot carry messages (their metadata is unknown), so the history is read inside the object.
  const history = () => runInAgent(stub(), (agent) => agent.getMessages());
  const client = await connectChat(exports.default, { agent: "LoopTestAgent", name });
  return { name, model, stub, history, client };
}
