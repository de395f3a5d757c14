/** What the recovery tests share: an agent with a lab, and waiting for what recovery does. */
import { env, exports } from "cloudflare:workers";
import { connectChat, runInAgent, scriptedModel, type Script } from "@cloudflare/think/testing";
import { expect, vi } from "vitest";
import { openLab, type LabSettings } from "./worker/recovery-agents";
import { silencesIn } from "./worker/stall-limit";

let counter = 0;

export function newLab(script: Script, settings: Partial<LabSettings> = {}) {
  const name = `recovery-${(counter += 1)}-${crypto.randomUUID()}`;
  const model = scriptedModel(script);
  const lab = openLab(name, { model, silences: silencesIn(script), ...settings });
  const stub = () => env.RecoveryAgent.getByName(name);
  return {
    lab,
    model,
    stub,
    connect: () => connectChat(exports.default, { agent: "RecoveryAgent", name }),
    types: () => lab.events.map(({ type }) => type).filter((type) => type.startsWith("chat:recovery")),
    /** Waits until recovery has said this. */
    event: (type: string) =>
      vi.waitFor(() => expect(lab.events.map((event) => event.type)).toContain(`chat:recovery:${type}`)),
    texts: () =>
      runInAgent(stub(), (agent) =>
        agent.messages.map(({ role, parts }) => [
          role,
          parts.map((part) => (part.type === "text" ? part.text : part.type)).join("|")
        ])
      ),
    /** What is left in storage when everything is over. */
    rest: () =>
      runInAgent(stub(), async (agent, { storage }) => ({
        keys: [...storage.kv.list({ prefix: "cf:chat" })].map(([key]) => key),
        schedules: (await agent.listSchedules()).map(({ callback }) => callback),
        alarm: await storage.getAlarm()
      }))
  };
}
