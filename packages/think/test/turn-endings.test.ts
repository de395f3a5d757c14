/**
 * Every way a turn can end, through every door it can come in: wire, stored stream, response hook and result agree, and each is
 * told exactly once (contract §4.4, §5.2, §5.5, §8.3; seed 001 §4).
 */
import { env, exports } from "cloudflare:workers";
import {
  connectChat,
  hang,
  runInAgent,
  scriptedModel,
  streamError,
  text,
  throwError,
  userMessage,
  type ChatClient,
  type ScriptStep
} from "@cloudflare/think/testing";
import { describe, expect, it } from "vitest";
import { useTurnModel } from "./worker/turn-agents";

let counter = 0;

type Stub = ReturnType<typeof env.TurnAgent.getByName>;

/** What an observer was told, in the words all of them share. */
type Status = "completed" | "error" | "aborted" | "skipped";

interface Observed {
  /** Outcomes of the terminal frames that a connected client saw for the turn. */
  readonly wire: Status[];
  /** The error text on the wire. */
  readonly wireError: string | undefined;
  /** The stored stream's status and error. */
  readonly row: { readonly status: string; readonly error: string | null } | undefined;
  readonly hook: Status[];
  readonly onChatError: number;
  readonly failedEvents: number;
  /** What the caller got: a status, `rejected: …` or, for `chat()`, the callback's last call. */
  readonly result: string | undefined;
  readonly text: string;
}

interface Ending {
  readonly name: string;
  /** What the model does in the turn under test. */
  readonly script: ScriptStep;
  /** What happens from outside once the model hangs. */
  readonly meanwhile?: (parts: { readonly stub: Stub; readonly requestId: string }) => Promise<void>;
  readonly missingModel?: boolean;
  readonly expected: {
    readonly status: Status;
    readonly row: "completed" | "error" | undefined;
    readonly error?: string;
    readonly hook: boolean;
    readonly text: string;
    /** The turn failed before its stream: programmatic callers get the error thrown. */
    readonly rejects?: boolean;
  };
}

const endings: readonly Ending[] = [
  {
    name: "completes",
    script: "All good",
    expected: { status: "completed", row: "completed", hook: true, text: "All good" }
  },
  {
    name: "completes without a word",
    script: [],
    expected: { status: "completed", row: "completed", hook: true, text: "" }
  },
  {
    name: "fails inside the stream",
    script: [text("Half"), streamError("boom"), text(" more")],
    expected: { status: "error", row: "error", error: "boom", hook: true, text: "Half" }
  },
  {
    name: "fails inside the stream before any content",
    script: streamError("boom"),
    expected: { status: "error", row: "error", error: "boom", hook: true, text: "" }
  },
  {
    name: "is cut by a thrown error",
    script: [text("Half"), throwError("lost")],
    expected: { status: "error", row: "error", error: "lost", hook: true, text: "Half" }
  },
  {
    name: "is refused by the provider",
    script: throwError("no quota"),
    expected: { status: "error", row: "error", error: "no quota", hook: true, text: "" }
  },
  {
    name: "has no model",
    script: [],
    missingModel: true,
    expected: {
      status: "error",
      row: "error",
      error: "TurnAgent has no model",
      hook: false,
      text: "",
      rejects: true
    }
  },
  {
    name: "is cancelled",
    script: [text("Half"), hang()],
    meanwhile: async ({ stub, requestId }) => stub.cancelChat(requestId),
    expected: { status: "aborted", row: "completed", hook: true, text: "Half" }
  },
  {
    name: "is cancelled before any content",
    script: hang(),
    meanwhile: async ({ stub, requestId }) => stub.cancelChat(requestId),
    expected: { status: "aborted", row: "completed", hook: true, text: "" }
  },
  {
    name: "loses its conversation to a clear",
    script: [text("Half"), hang()],
    meanwhile: async ({ stub }) => stub.clearMessages(),
    expected: { status: "aborted", row: undefined, hook: false, text: "Half" }
  }
];

interface Door {
  readonly name: string;
  /** Starts the turn; resolves with what the caller was told. */
  readonly run: (parts: { readonly stub: Stub; readonly client: ChatClient }) => Promise<string>;
  /** How the door tells a status to its caller. */
  readonly tells: (ending: Ending) => string | RegExp;
}

const programmatic = ({ expected }: Ending) =>
  expected.rejects ? /^rejected: TurnAgent has no model/ : expected.status;

const outcome = (work: Promise<{ readonly status: string }>) =>
  work.then(
    ({ status }) => status,
    (error: Error) => `rejected: ${error.message}`
  );

const doors: readonly Door[] = [
  {
    name: "a WebSocket request",
    run: async ({ client }) => {
      const { frames } = await client.chat("Hi").done;
      return String(frames.at(-1)?.outcome);
    },
    tells: ({ expected }) => expected.status
  },
  {
    name: "saveMessages()",
    run: ({ stub }) => outcome(runInAgent(stub, (agent) => agent.saveMessages([userMessage("Hi")]))),
    tells: programmatic
  },
  {
    name: "continueLastTurn()",
    run: ({ stub }) => outcome(runInAgent(stub, (agent) => agent.continueNow())),
    tells: programmatic
  },
  {
    name: "chat()",
    run: ({ stub }) =>
      runInAgent(stub, async (agent) =>
        (await agent.recordChat("Hi")).filter((call) => call !== "event").join(", ")
      ),
    tells: ({ expected }) => {
      if (expected.status === "error") return new RegExp(`^start, error: ${expected.error}`);
      return expected.status === "completed" ? "start, done" : "start";
    }
  }
];

async function observe(door: Door, ending: Ending): Promise<Observed> {
  const name = `ending-${(counter += 1)}`;
  const stub = env.TurnAgent.getByName(name);
  useTurnModel(name, scriptedModel(["An earlier answer", ending.script]));
  const client = await connectChat(exports.default, { agent: "TurnAgent", name });
  await client.chat("An earlier question").done;
  if (ending.missingModel) useTurnModel(name, undefined as never);
  await runInAgent(stub, (agent) => void agent.responses.splice(0));
  const watcher = await connectChat(exports.default, { agent: "TurnAgent", name });
  const running = door.run({ stub, client });
  const first = await watcher.waitFor((frame) => frame.type === "cf_agent_use_chat_response");
  const requestId = String(first.id);
  if (ending.meanwhile) {
    if (ending.expected.text) await watcher.follow(requestId).waitForText(ending.expected.text);
    await ending.meanwhile({ stub, requestId });
  }
  const result = await running;
  const watched = await watcher.follow(requestId).done;
  const inside = await runInAgent(stub, (agent, state) => ({
    hook: agent.responses.map((response) => response.status),
    onChatError: agent.errors.length,
    failedEvents: agent.events.filter((event) => event.type === "chat:request:failed").length,
    row: state.storage.sql
      .exec("SELECT status, error_message AS error FROM cf_ai_chat_stream_metadata")
      .toArray()[0] as Observed["row"]
  }));
  const terminals = watched.frames.filter((frame) => frame.done === true);
  return {
    ...inside,
    wire: terminals.map((frame) => frame.outcome as Status),
    wireError: watched.error,
    result,
    text: watched.text
  };
}

describe.each(doors)("a turn through $name", (door) => {
  it.each(endings)("that $name tells everyone the same, once", async (ending) => {
    const { expected } = ending;
    const observed = await observe(door, ending);
    expect(observed.wire).toEqual([expected.status]);
    expect(observed.hook).toEqual(expected.hook ? [expected.status] : []);
    expect(observed.row?.status).toBe(expected.row);
    expect(observed.text).toBe(expected.text);
    expect(observed.result).toMatch(door.tells(ending));
    const failed = expected.status === "error" ? 1 : 0;
    expect({ calls: observed.onChatError, events: observed.failedEvents }).toEqual({
      calls: failed,
      events: failed
    });
    if (expected.error) {
      expect(observed.wireError).toContain(expected.error);
      expect(observed.row?.error).toBe(observed.wireError);
    } else expect(observed.wireError).toBeUndefined();
  });

  it("that was cleared while it waited is skipped: no model call, no hook", async () => {
    const name = `ending-${(counter += 1)}`;
    const stub = env.TurnAgent.getByName(name);
    const model = scriptedModel(["earlier", hang(), "never"]);
    useTurnModel(name, model);
    const client = await connectChat(exports.default, { agent: "TurnAgent", name });
    await client.chat("first").done;
    const blocker = client.chat("blocker");
    await blocker.waitForChunk("start");
    const waiting = door.run({ stub, client });
    // One more round trip, so that the waiting turn is in the queue.
    await client.resume();
    await runInAgent(stub, (agent) => void agent.responses.splice(0));
    await stub.clearMessages();
    expect(await waiting).toMatch(
      door.name === "chat()" ? /^start, error: The conversation was cleared/ : "skipped"
    );
    expect(model.calls).toHaveLength(2);
    expect(await runInAgent(stub, (agent) => agent.responses.length)).toBe(0);
  });
});

it("an error that onChatError replaces is what everyone is told", async () => {
  const name = `ending-${(counter += 1)}`;
  const stub = env.TurnAgent.getByName(name);
  useTurnModel(name, scriptedModel([[text("Half"), streamError("secret detail")]]));
  const client = await connectChat(exports.default, { agent: "TurnAgent", name });
  await runInAgent(stub, (agent) => {
    agent.replaceError = () => new Error("Please try again.");
  });
  expect((await client.chat("Hi").done).error).toBe("Please try again.");
  const inside = await runInAgent(stub, (agent) => ({
    hook: agent.responses.map(({ error }) => error),
    told: [...agent.errors]
  }));
  expect(inside.hook).toEqual(["Please try again."]);
  expect(inside.told).toEqual([
    {
      text: "secret detail",
      context: { requestId: expect.any(String), stage: "stream", messagesPersisted: true }
    }
  ]);
  const returning = await connectChat(exports.default, { agent: "TurnAgent", name });
  expect((await (await returning.resume())?.done)?.error).toBe("Please try again.");
});
