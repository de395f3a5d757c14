import {
  connectChat,
  crash,
  evict,
  fireAlarm,
  gate,
  hang,
  runInAgent,
  scriptedModel,
  toolCall
} from "@cloudflare/think/testing";
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

it("carries on after it was killed in the middle of an answer", async () => {
  const model = scriptedModel([["Once upon ", hang()], "a time."]);
  vi.spyOn(Librarian.prototype, "getModel").mockReturnValue(model);

  const client = await connectChat(env.Librarian, { name: "eve" });
  await client.chat("Tell me a story.").waitForText("Once upon");
  await crash(env.Librarian.getByName("eve"));

  const stub = env.Librarian.getByName("eve"); // the crash broke the old stub
  await stub.getMessages(); // any visit wakes the agent, and it plans to carry on
  await fireAlarm(stub); // do it now
  const told = () => runInAgent(stub, (agent) => agent.messages.map(({ parts }) => JSON.stringify(parts)));
  await vi.waitFor(async () => expect((await told()).at(-1)).toContain("a time."), 8000);

  expect(await told()).toHaveLength(3); // the question, the first half, the second half
  expect(JSON.stringify(model.calls[1]?.prompt.at(-1))).toContain("Continue from where you stopped.");
});
