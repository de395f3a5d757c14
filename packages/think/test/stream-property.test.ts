/**
 * Random turns, cut at every kind of point: a client that drops and resumes ends with the same message, outcome and error as the one
 * that stayed, however many tabs there are (contract §2.6, §2.8; seed 001 §7).
 */
import { exports } from "cloudflare:workers";
import {
  connectChat,
  gate,
  hang,
  reasoning,
  scriptedModel,
  streamError,
  text,
  throwError,
  toolCall,
  userMessage,
  type ChatClient,
  type Gate,
  type ReceivedFrame,
  type ScriptPart
} from "@cloudflare/think/testing";
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import fc from "fast-check";
import { expect, it } from "vitest";
import { useModel } from "./worker/chat-agents";

type Ending = "completes" | "error in the stream" | "error thrown" | "is cancelled" | "is cleared";

/** When a tab that dropped comes back, and when it accepts the offer. */
type Return = "in mid-stream" | "accepts after the end" | "after the end" | "twice";

interface Plan {
  readonly steps: readonly (readonly ScriptPart[])[];
  readonly ending: Ending;
  /** Where the stream is held while tabs drop: an index into all parts. */
  readonly cut: number;
  readonly tabs: readonly Return[];
}

const deltas = fc.array(fc.string({ minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 6 });
const speech = fc.oneof(
  deltas.map((list) => text(list)),
  deltas.map((list) => reasoning(list))
);
const call = fc.record({ a: fc.nat(9), b: fc.nat(9) }).map((input) => toolCall("add", input));
/** Refused by the tool's schema: a tool error in the message. */
const badCall = fc.constant(toolCall("add", { a: "one" }));
/** Goes to the client and ends the turn, so only the last step may have one. */
const clientCall = fc.constant(toolCall("ask", { question: "Which?" }));
const callingStep = fc
  .tuple(
    fc.array(speech, { maxLength: 2 }),
    fc.array(fc.oneof(call, badCall), { minLength: 1, maxLength: 3 })
  )
  .map(([said, calls]) => [...said, ...calls]);

const plan: fc.Arbitrary<Plan> = fc.record({
  steps: fc
    .tuple(
      fc.array(callingStep, { maxLength: 2 }),
      fc.array(speech, { maxLength: 3 }),
      fc.array(clientCall, { maxLength: 2 })
    )
    .map(([calling, said, asked]) => [...calling, [...said, ...asked]]),
  ending: fc.constantFrom<Ending>(
    "completes",
    "error in the stream",
    "error thrown",
    "is cancelled",
    "is cleared"
  ),
  cut: fc.nat(12),
  tabs: fc.array(
    fc.constantFrom<Return>("in mid-stream", "accepts after the end", "after the end", "twice"),
    { minLength: 1, maxLength: 3 }
  )
});

const lastParts: Record<Ending, readonly ScriptPart[]> = {
  completes: [],
  "error in the stream": [streamError("boom")],
  "error thrown": [throwError("boom")],
  "is cancelled": [hang()],
  "is cleared": [hang()]
};

/** The plan as a script with a gate at its cut point. */
function scriptOf({ steps, ending, cut }: Plan, hold: Gate): ScriptPart[][] {
  const script = steps.map((step, index) =>
    index === steps.length - 1 ? [...step, ...lastParts[ending]] : [...step]
  );
  const places = script.flatMap((step, stepIndex) =>
    step.map((_, partIndex) => [stepIndex, partIndex] as const)
  );
  const [stepIndex, partIndex] = places[cut % Math.max(places.length, 1)] ?? [0, 0];
  script[stepIndex]?.splice(partIndex, 0, hold);
  return script;
}

/** The assistant message as the AI SDK's own client builds it. */
async function messageFrom(chunks: readonly UIMessageChunk[]): Promise<UIMessage["parts"]> {
  let last: UIMessage | undefined;
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    }
  });
  for await (const message of readUIMessageStream({ stream })) last = structuredClone(message);
  return settled(last?.parts ?? []);
}

/**
 * Equal for every observer: a text that was cut off is `done` in storage and `streaming` for those who watched it stop, and the
 * AI SDK's version 6 keeps an input it refused under a name of its own.
 */
function settled(parts: UIMessage["parts"]): UIMessage["parts"] {
  return parts.filter((part) => part.type !== "step-start").map(settledPart) as UIMessage["parts"];
}

function settledPart(part: UIMessage["parts"][number]): unknown {
  if ("text" in part) return { type: part.type, text: part.text };
  const { rawInput, ...fields } = JSON.parse(JSON.stringify(part)) as Record<string, unknown>;
  return rawInput === undefined ? fields : { ...fields, input: rawInput };
}

interface View {
  readonly parts: UIMessage["parts"];
  readonly error: string | undefined;
}

let counter = 0;

it("tells a client that drops and resumes the same as one that stayed", { timeout: 120_000 }, async () => {
  await fc.assert(fc.asyncProperty(plan, check), { numRuns: 80, seed: 20_261_118 });
});

async function check(planned: Plan): Promise<void> {
  const name = `property-${(counter += 1)}`;
  const hold = gate();
  useModel(name, scriptedModel(scriptOf(planned, hold)));
  const connect = () => connectChat(exports.default, { agent: "ChatAgent", name });
  const stayer = await connect();
  const turn = stayer.chat([userMessage("Go", "question")], { clientTools: [{ name: "ask" }] });
  await hold.reached;
  const early = await Promise.all(
    planned.tabs.map(async (mode) => (mode === "after the end" ? undefined : dropAndReturn(mode, connect)))
  );
  hold.open();
  if (planned.ending === "is cancelled" || planned.ending === "is cleared")
    await stop(stayer, turn.id, planned);
  const end = await turn.done;
  const expected: View = { parts: await messageFrom(end.chunks), error: end.error };
  for (const [index, mode] of planned.tabs.entries()) {
    const client = early[index] ?? (await connect());
    const view =
      planned.ending === "is cleared"
        ? await viewAfterClear(client, mode)
        : await viewOf(client, mode, turn.id);
    expect(view, `tab ${index}, ${mode}`).toEqual(planned.ending === "is cleared" ? GONE : expected);
    await client.close();
  }
  if (planned.ending !== "is cleared") {
    const stored = (await stayer.history()).at(-1);
    expect(stored?.role === "assistant" ? settled(stored.parts) : []).toEqual(expected.parts);
  }
  await stayer.close();
}

/** A cleared conversation has nothing to show, to anyone. */
const GONE: View = { parts: [], error: undefined };

async function viewAfterClear(client: ChatClient, mode: Return): Promise<View> {
  if (mode !== "after the end") await client.waitFor((frame) => frame.type === "cf_agent_chat_clear");
  expect(await client.resume()).toBeUndefined();
  return { parts: assistantParts(await client.history()), error: undefined };
}

/** A tab that arrives while the stream is held; those that accept now follow it live from here. */
async function dropAndReturn(mode: Return, connect: () => Promise<ChatClient>): Promise<ChatClient> {
  const first = await connect();
  await first.waitFor((frame) => frame.type === "cf_agent_stream_resuming");
  if (mode === "accepts after the end") return first;
  await first.resume({ request: false });
  if (mode === "in mid-stream") return first;
  await first.close();
  return dropAndReturn("in mid-stream", connect);
}

async function stop(stayer: ChatClient, id: string, { ending, steps }: Plan): Promise<void> {
  const said = steps.flat().length;
  if (said > 0) await stayer.waitFor((frame) => frame.id === id && frame.body !== "");
  if (ending === "is cleared") stayer.clear();
  else stayer.send({ type: "cf_agent_chat_request_cancel", id });
}

/** What a tab that came back knows in the end. */
async function viewOf(client: ChatClient, mode: Return, id: string): Promise<View> {
  if (mode === "after the end") {
    const resumed = await client.resume();
    return resumed
      ? viewOfTurn(await resumed.done)
      : { parts: assistantParts(client.messages), error: undefined };
  }
  if (mode === "accepts after the end") {
    const from = client.frames.length;
    expect(client.frames.filter((frame) => frame.id === id && frame.seq !== undefined)).toEqual([]);
    client.send({ type: "cf_agent_stream_resume_ack", id });
    await client.waitFor((frame) => frame.id === id && frame.done === true && frame.replay === true, {
      from
    });
    return viewOfTurn(resultFrom(client.frames.slice(from)));
  }
  return viewOfTurn(await client.follow(id).done);
}

async function viewOfTurn({
  chunks,
  error
}: {
  readonly chunks: readonly UIMessageChunk[];
  readonly error: string | undefined;
}): Promise<View> {
  return { parts: await messageFrom(chunks), error };
}

function resultFrom(frames: readonly ReceivedFrame[]) {
  const replayed = frames.filter((frame) => frame.replay === true);
  const chunks = replayed
    .filter((frame) => frame.body && frame.error !== true)
    .map((frame) => JSON.parse(String(frame.body)) as UIMessageChunk);
  return { chunks, error: replayed.find((frame) => frame.error === true)?.body };
}

function assistantParts(messages: readonly UIMessage[]): UIMessage["parts"] {
  const last = messages.at(-1);
  return last?.role === "assistant" ? settled(last.parts) : [];
}
