import { afterEach, expect, it, vi } from "vitest";
import { openSocket } from "./open-socket";

afterEach(() => vi.unstubAllGlobals());

it("says which Node it needs where there is no WebSocket", async () => {
  vi.stubGlobal("WebSocket", undefined);
  const url = new URL("http://localhost:8787/agents/librarian/ada");
  await expect(openSocket(url, url, {}, () => undefined)).rejects.toThrow("Use Node 22 or newer");
});
