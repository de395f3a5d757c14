/** The `fetch` tool in workerd: the platform's URL parser, streams and `fetch`, and a turn that goes on after a refusal. */
import { toolCall } from "@cloudflare/think/testing";
import { createFetchTool } from "@cloudflare/think/tools/fetch";
import { describe, expect, it, vi } from "vitest";
import { newLoop } from "./loop-support";

describe("issue 5.6: fetch in workerd", () => {
  it.each([
    "https://127.0.0.1/",
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f.0.0.1/",
    "https://0177.0.0.1/",
    "https://127.0.0.1./",
    "https://１２７.0.0.1/",
    "https://127。0。0。1/",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[fe80::1]/",
    "https://169.254.169.254/",
    "https://user@127.0.0.1/",
    "https://localhost/",
    "https://LOCALHOST./",
    "https://ｌocalhost/",
    "https://10.0.0.1:8443/"
  ])("refuses %s without asking anyone", async (url) => {
    const asked = vi.fn<() => Promise<Response>>(async () => new Response("secret"));
    const tool = createFetchTool({ allow: ["https://*", "https://*:8443"], fetch: asked });
    expect(await tool.execute({ url })).toEqual({ error: expect.any(String) });
    expect(asked).not.toHaveBeenCalled();
  });

  it("uses the platform's fetch, and follows no redirect by itself", async () => {
    const platform = vi
      .spyOn(globalThis, "fetch")
      .mockImplementation(
        async () => new Response(null, { status: 302, headers: { location: "http://10.0.0.1/" } })
      );
    try {
      const tool = createFetchTool({ allow: ["https://ok.example"] });
      expect(await tool.execute({ url: "https://ok.example/" })).toEqual({
        error: expect.stringContaining("not public")
      });
      expect(platform).toHaveBeenCalledExactlyOnceWith(
        "https://ok.example/",
        expect.objectContaining({ redirect: "manual", method: "GET" })
      );
    } finally {
      platform.mockRestore();
    }
  });

  it("shows the model the page or one sentence, and the turn goes on", async () => {
    const page = "<h1>Docs</h1><p>Read <a href='/more'>more</a>.</p>";
    const fetch = createFetchTool({
      allow: ["https://ok.example"],
      fetch: async () => new Response(page, { headers: { "content-type": "text/html" } })
    });
    const { client, model } = await newLoop(
      [
        [
          toolCall("fetch", { url: "https://ok.example/docs" }),
          toolCall("fetch", { url: "https://10.0.0.1/" })
        ],
        "done"
      ],
      { tools: { fetch } }
    );
    expect((await client.chat("Read").done).text).toBe("done");
    const prompt = JSON.stringify(model.calls[1]?.prompt);
    expect(prompt).toContain("# Docs\\n\\nRead [more](https://ok.example/more).");
    expect(prompt).toContain("10.0.0.1 is an address that is not public.");
  });
});
