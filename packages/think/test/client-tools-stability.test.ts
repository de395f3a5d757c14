import { evict, gate, toolCall } from "@cloudflare/think/testing";
import { expect, it } from "vitest";
import { newChat } from "./client-tools-support";

const call = (name: string) => toolCall(name, {}, { id: name });

it("knows whom it is asking: clients and people, also after an eviction (§7.8)", async () => {
  const { client, ask, stub } = await newChat([[call("a"), call("wipe")], "Done."]);
  expect(await stub().isAsking()).toBe(false);
  await ask("Go");
  expect(await stub().isAsking()).toBe(true);
  await evict(stub());
  expect(await stub().isAsking()).toBe(true);
  client.toolResult({ toolCallId: "a", toolName: "a", output: 1, autoContinue: false });
  await client.waitFor("cf_agent_message_updated");
  expect(await stub().isAsking()).toBe(true);
  client.toolApproval("wipe", false, { autoContinue: false });
  await client.waitFor((frame) => JSON.stringify(frame).includes("output-denied"));
  expect(await stub().isAsking()).toBe(false);
});

it("is stable at once when nothing is going on (§7.8)", async () => {
  const { stub } = await newChat([]);
  expect(await stub().isStable(0)).toBe(true);
});

it("is not stable while a turn runs, and is when it has ended (§7.8)", async () => {
  const hold = gate();
  const { client, stub } = await newChat([[hold, "Done."]]);
  const turn = client.chat("Go");
  await hold.reached;
  expect(await stub().isStable(20)).toBe(false);
  const waiting = stub().isStable();
  hold.open();
  await turn.done;
  expect(await waiting).toBe(true);
});

it("is not stable while somebody is asked, nor before the continuation of the answer has ended (§7.8)", async () => {
  const { client, ask, stub, model } = await newChat([call("a"), "Done."]);
  await ask("Go");
  expect(await stub().isStable(20)).toBe(false);
  const waiting = stub().isStable();
  client.toolResult({ toolCallId: "a", toolName: "a", output: 1 });
  expect(await waiting).toBe(true);
  expect(model.calls.map(({ status }) => status)).toEqual(["finished", "finished"]);
});

it("is stable after a clear, whoever was asked (§6.10)", async () => {
  const { client, ask, stub } = await newChat([call("a")]);
  await ask("Go");
  const waiting = stub().isStable();
  client.clear();
  expect(await waiting).toBe(true);
});
