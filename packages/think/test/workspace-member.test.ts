/** `this.workspace` and its tools in a turn (tools.md §1.1, §1.5), and what they cost (performance.md rows 5 and 9). */
import { env, exports } from "cloudflare:workers";
import { Workspace } from "@cloudflare/think";
import {
  connectChat,
  countRowsOf,
  runInAgent,
  scriptedModel,
  toolCall,
  type Script
} from "@cloudflare/think/testing";
import { tool } from "ai";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { useExecuteModel, type ExecuteAgent } from "./worker/execute-agents";
import { useFilesModel, constructed } from "./worker/files-agents";
import { WORKSPACE_TOOLS } from "./workspace-names";

let counter = 0;

async function newFiles(script: Script, agent: "FilesAgent" | "ExecuteAgent" = "ExecuteAgent") {
  const name = `files-${(counter += 1)}`;
  const model = scriptedModel(script);
  (agent === "FilesAgent" ? useFilesModel : useExecuteModel)(name, model);
  const client = await connectChat(exports.default, { agent, name });
  return { name, model, client, stub: () => env.ExecuteAgent.getByName(name) };
}

const tables = (agent: ExecuteAgent) =>
  agent.storageContext.storage.sql
    .exec("SELECT name FROM sqlite_master WHERE name LIKE 'cf_workspace%'")
    .toArray().length;

describe("§1.1 this.workspace", () => {
  it("§1.1.1 is there without any set-up, and costs no table before it is used", async () => {
    const { client, stub } = await newFiles(["Hello.", "Again."]);
    await client.chat("Hi").done;
    const counts = await runInAgent(stub(), async (agent: ExecuteAgent) => {
      const before = tables(agent);
      const isStock = agent.workspace instanceof Workspace;
      const looked = tables(agent);
      await agent.workspace.writeFile("/a.txt", "hello");
      return { before, isStock, looked, after: tables(agent) > 0, same: agent.workspace === agent.workspace };
    });
    expect(counts).toEqual({ before: 0, isStock: true, looked: 0, after: true, same: true });
  });

  it("§1.1.2 is what a class field says, and then the default is never made", async () => {
    const { name, client, model } = await newFiles(
      [
        toolCall("write", { path: "/big.txt", content: "x".repeat(50) }),
        toolCall("read", { path: "/big.txt" }),
        "Done."
      ],
      "FilesAgent"
    );
    const { text } = await client.chat("Write").done;
    expect(text).toBe("Done.");
    expect(JSON.stringify(model.calls[2]?.prompt)).toContain("x".repeat(50));
    // §1.1.3, §1.1.5: the name was not known when the field was made; it is the prefix of what spills to R2.
    const spilled = await env.FILES.list({ prefix: `${name}/` });
    expect(spilled.objects.map(({ key }) => key)).toEqual([`${name}/default/big.txt`]);
    const own = env.FilesAgent.getByName(name);
    expect(await runInAgent(own, (agent) => constructed(agent))).toBe(1);
  });

  it("§1.1.4 may be anything with the narrow shape, also when assigned later", async () => {
    const { client, stub, model } = await newFiles([toolCall("read", { path: "/motd" }), "Done."]);
    await runInAgent(stub(), (agent: ExecuteAgent) => {
      const info = { path: "/motd", name: "motd", type: "file", mimeType: "text/plain", size: 6 } as const;
      agent.workspace = {
        readFile: async () => "Hello!",
        readFileBytes: async () => new TextEncoder().encode("Hello!"),
        writeFile: async () => undefined,
        readDir: () => [info],
        rm: async () => undefined,
        glob: () => [info],
        mkdir: () => undefined,
        stat: () => info
      };
    });
    await client.chat("Read").done;
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain("1\\tHello!");
  });

  it("§1.1.6 takes in media that left the conversation, where the model's file tools find them", async () => {
    const { stub, client, model } = await newFiles([
      toolCall("find", { pattern: "/attachments/**/*.png" }),
      toolCall("read", { path: "/attachments/evicted/old-0.png" }),
      "There it is."
    ]);
    const url = `data:image/png;base64,${btoa("\x89PNG\r\n\x1a\n".padEnd(30_000, "."))}`;
    await runInAgent(stub(), async (agent: ExecuteAgent) => {
      const image = { type: "file" as const, mediaType: "image/png", url };
      const later = Array.from({ length: 8 }, (_, index) => ({
        ...{ id: `later-${index}`, role: index % 2 ? ("user" as const) : ("assistant" as const) },
        parts: [{ type: "text" as const, text: "…" }]
      }));
      await agent.session.appendMessages([{ id: "old", role: "user", parts: [image] }, ...later]);
    });
    await vi.waitFor(() =>
      runInAgent(stub(), async (agent: ExecuteAgent) =>
        expect(await agent.workspace.glob("/attachments/evicted/*")).toHaveLength(1)
      )
    );
    await client.chat("Where is my picture?").done;
    expect(JSON.stringify(model.calls[0]?.prompt)).not.toContain(url.slice(-1_000));
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain("/attachments/evicted/old-0.png");
    expect(JSON.stringify(model.calls[2]?.prompt)).toContain(url.slice(-1_000));
  });
});

describe("§1.5 workspace tools in a turn", () => {
  it("are merged into every turn below the agent's own, and listed only when exposed", async () => {
    const { client, stub, model } = await newFiles(["one", "two", "three", "four"]);
    await client.chat("1").done;
    expect(model.calls[0]?.toolNames).toEqual([...WORKSPACE_TOOLS, "execute"]);
    expect(JSON.stringify(model.calls[0]?.prompt)).toContain("agent workspace");
    await runInAgent(stub(), (agent: ExecuteAgent) => {
      agent.workspaceBash = false;
      const own = tool({ description: "Mine.", inputSchema: z.object({}), execute: () => "mine" });
      agent.getTools = () => ({ read: own });
    });
    await client.chat("2").done;
    expect(model.calls[1]?.toolNames).toEqual(["read", "write", "edit", "list", "find", "grep", "delete"]);
    const own = (model.calls[1]?.tools ?? []).find(({ name }) => name === "read");
    expect(own).toMatchObject({ description: "Mine." });
    await runInAgent(stub(), (agent: ExecuteAgent) => {
      agent.beforeTurn = () => ({ activeTools: [] });
    });
    await client.chat("3").done;
    expect(model.calls[2]?.toolNames).toEqual([]);
    expect(JSON.stringify(model.calls[2]?.prompt)).not.toContain("agent workspace");
    await runInAgent(stub(), (agent: ExecuteAgent) => {
      agent.beforeTurn = () => ({ activeTools: ["grep"] });
    });
    await client.chat("4").done;
    expect(model.calls[3]?.toolNames).toEqual(["grep"]);
    expect(JSON.stringify(model.calls[3]?.prompt)).toContain("agent workspace");
  });

  it("take the limits of bash from the agent", async () => {
    const { client, stub, model } = await newFiles([
      toolCall("bash", { script: "for i in 1 2 3 4 5; do echo 0123456789; done" }),
      "Done."
    ]);
    await runInAgent(stub(), (agent: ExecuteAgent) => void (agent.workspaceBash = { maxOutputBytes: 20 }));
    await client.chat("Run").done;
    const told = JSON.stringify(model.calls[1]?.prompt);
    expect(told.match(/0123456789/g)?.length ?? 0).toBeLessThanOrEqual(2);
  });
});

describe("what files cost", () => {
  it("row 9: ten writes and ten reads in one agentic turn", async () => {
    const path = (index: number) => `/notes/file-${index}.md`;
    const ten = Array.from({ length: 10 }, (_, index) => index);
    const { client, stub } = await newFiles([
      toolCall("write", { path: "/warm.txt", content: "up" }),
      "Warm.",
      ...ten.map((index) => toolCall("write", { path: path(index), content: `Note ${index}\n`.repeat(20) })),
      ...ten.map((index) => toolCall("read", { path: path(index) })),
      "Done."
    ]);
    await runInAgent(stub(), (agent: ExecuteAgent) => void (agent.maxSteps = 30));
    await client.chat("Warm up").done;
    const cost = await countRowsOf(stub(), async () => {
      const { text } = await client.chat("Work").done;
      expect(text).toBe("Done.");
    });
    expect(cost.totalWritten).toBeLessThanOrEqual(60);
    expect(cost.totalRead).toBeLessThanOrEqual(100);
  });
});
