import { connectChat, evict, gate, scriptedModel, toolCall } from "@cloudflare/think/testing";
import { env } from "cloudflare:workers";
import { afterEach, expect, it, vi } from "vitest";
import { Librarian } from "./worker/testing-docs-agent";

afterEach(() => vi.restoreAllMocks());

it("looks a book up before it answers", async () => {
  const model = scriptedModel([toolCall("findBook", { title: "Dune" }), "Frank Herbert; shelf 12."]);
  vi.spyOn(Librarian.prototype, "getModel").mockReturnValue(model);

  const client = await connectChat(env.Librarian, { name: "ada" });
  const { text } = await client.chat("Who wrote Dune?").done;

  expect(text).toBe("Frank Herbert; shelf 12.");
  expect(JSON.stringify(model.calls[1]?.prompt)).toContain("Frank Herbert");
});

it("lets a second tab join an answer half-way", async () => {
  const half = gate();
  vi.spyOn(Librarian.prototype, "getModel").mockReturnValue(scriptedModel([["Once upon ", half, "a time."]]));

  const first = await connectChat(env.Librarian, { name: "bob" });
  const answer = first.chat("Tell me a story.");
  await answer.waitForText("Once upon");

  const second = await connectChat(env.Librarian, { name: "bob" });
  const joined = await second.resume();
  half.open();

  expect((await joined?.done)?.text).toBe("Once upon a time.");
});

it("remembers the conversation after it was evicted", async () => {
  const model = scriptedModel(["Hello, Cleo.", "Your name is Cleo."]);
  vi.spyOn(Librarian.prototype, "getModel").mockReturnValue(model);

  const client = await connectChat(env.Librarian, { name: "cleo" });
  await client.chat("I am Cleo.").done;
  await evict(env.Librarian.getByName("cleo"));
  await client.chat("Who am I?").done;

  expect(JSON.stringify(model.calls[1]?.prompt)).toContain("I am Cleo.");
});
