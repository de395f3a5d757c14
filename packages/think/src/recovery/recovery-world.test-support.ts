/**
 * A whole agent without the platform: real turns, stream, incidents and recovery over storage in memory, on a fake clock. `crash()` throws the
 * isolate away and wakes the next one on what is stored; whatever the dead one still does reaches nothing.
 */
import type { UIMessage } from "ai";
import type { ModelStream } from "../loop/sdk";
import type { Clock, Ids } from "../shared/clock";
import { ResumableStream } from "../stream/resumable-stream";
import { ResumeDesk } from "../stream/resume-desk";
import type { StreamRecord } from "../stream/stream-store";
import { openChatSink } from "../turn/chat-sink";
import { settleOrphan as settleStream } from "../turn/settle-orphan";
import type { Turn, TurnResult } from "../turn/turn";
import type { TurnRequest } from "../turn/turn-parts";
import { Turns } from "../turn/turns";
import type { ChatRecoveryConfig } from "./config";
import { IncidentStore } from "./incident-store";
import { ContextOverflow, defaultContextOverflowClassifier } from "./overflow";
import { Recovery } from "./recovery";
import { conversationOf, keyValue, streamStore, whileAlive } from "./recovery-storage.test-support";
import type { ChatRecoveryOptions, RecoveryCallback } from "./recovery-types";

export interface Planned {
  readonly id: string;
  readonly at: number;
  readonly callback: RecoveryCallback;
  readonly payload: unknown;
}

/** What the tests decide. */
export interface WorldOptions {
  /** A clock that stands still until the test moves it. */
  readonly clock: Clock & { readonly ids: Ids };
  readonly model: (turn: Turn) => ModelStream;
  readonly setting?: ChatRecoveryConfig;
  readonly hook?: () => ChatRecoveryOptions | Promise<ChatRecoveryOptions>;
  readonly stallMs?: number;
  /** What a compaction after a context overflow does: whether the history got shorter. Default: no error is taken for an overflow. */
  readonly compact?: () => boolean;
}

export class RecoveryWorld {
  readonly messages: UIMessage[] = [];
  readonly events: { readonly type: string; readonly payload: unknown }[] = [];
  readonly frames: Record<string, unknown>[] = [];
  readonly kv = new Map<string, unknown>();
  readonly chunkRows = new Map<number, { readonly streamId: string; readonly body: string }>();
  record: StreamRecord | null = null;
  planned: Planned[] = [];
  /** What the next write of a terminal record throws. */
  failTerminal: Error | undefined;
  lives = 0;
  /** Who is connected; a crash cuts everybody off. */
  readonly clients: Client[] = [];
  #clients = 0;
  /** Schedules whose call runs in this isolate. */
  readonly #firing = new Set<string>();
  isolate: Isolate;
  readonly options: WorldOptions;

  constructor(options: WorldOptions) {
    this.options = options;
    this.isolate = openIsolate(this);
  }

  get clock(): WorldOptions["clock"] {
    return this.options.clock;
  }

  /** The isolate dies and another wakes. */
  async crash(): Promise<void> {
    this.#die();
    await this.isolate.recovery.detect();
  }

  /** The isolate dies, and the next one while it finds out what the first one left: at its `wait`-th wait for the platform. */
  async crashTwice(wait: number): Promise<void> {
    this.#die();
    void this.isolate.recovery.detect();
    for (let waited = 0; waited < wait; waited += 1) await new Promise((resolve) => setImmediate(resolve));
    await this.crash();
  }

  #die(): void {
    this.lives += 1;
    this.clients.length = 0;
    this.#firing.clear();
    this.isolate = openIsolate(this);
  }

  /** The conversation is forgotten, as `compose.ts` does it. */
  clear(): void {
    const { turns, stream, recovery, desk } = this.isolate;
    turns.reset();
    stream.clear();
    recovery.clear();
    desk.release();
    this.messages.length = 0;
  }

  /** A client comes (back); it is told what a connecting client is told. */
  connect(): Client {
    const client: Client = { id: `client-${(this.#clients += 1)}`, frames: [] };
    this.clients.push(client);
    const { desk, recovery } = this.isolate;
    const isOffered = desk.greet(client.id);
    const offered = client.frames.find(({ type }) => type === "cf_agent_stream_resuming")?.id;
    if (isOffered) desk.acknowledge(client.id, String(offered));
    else recovery.greet(client.id);
    return client;
  }

  /** Asks a question; the answer may never come in this life. */
  ask(id: string, request: Pick<TurnRequest, "ownerId"> = {}): Promise<TurnResult> {
    this.messages.push({ id, role: "user", parts: [{ type: "text", text: id }] });
    return this.isolate.turns.run({ requestId: `request-${id}`, ...request });
  }

  /** Runs the schedules that are due and not running yet; a row goes when its call has returned. */
  async fire(): Promise<void> {
    const due = this.planned.filter(({ id, at }) => at <= this.clock.now() && !this.#firing.has(id));
    for (const plan of due) await this.#call(plan);
  }

  async #call({ id, callback, payload }: Planned): Promise<void> {
    const { lives } = this;
    const { recovery } = this.isolate;
    this.#firing.add(id);
    try {
      if (callback === "_chatRecoveryDetect") await recovery.detect();
      else await recovery.attempt(callback === "_chatRecoveryRetry" ? "retry" : "continue", payload, id);
      if (lives === this.lives) this.planned = this.planned.filter((plan) => plan.id !== id);
    } finally {
      if (lives === this.lives) this.#firing.delete(id);
    }
  }

  get incidents() {
    return new IncidentStore(keyValue(this, this.lives)).list();
  }
}

/** A connected client and what it was sent. */
export interface Client {
  readonly id: string;
  readonly frames: Record<string, unknown>[];
}

export interface Isolate {
  readonly turns: Turns;
  readonly recovery: Recovery;
  readonly stream: ResumableStream;
  readonly desk: ResumeDesk;
}

function openIsolate(world: RecoveryWorld): Isolate {
  const life = world.lives;
  const isAlive = whileAlive(world, life);
  const clock = {
    now: () => world.clock.now(),
    setTimer: (callback: () => void, ms: number) => world.clock.setTimer(() => isAlive() && callback(), ms)
  };
  const { ids } = world.clock;
  const stream = new ResumableStream({ store: streamStore(world, life), now: clock.now });
  const conversation = conversationOf(world, life);
  const { send, broadcast } = socketsOf(world, life);
  const settleOrphan = () => void settleStream(stream, conversation);
  const desk = new ResumeDesk(stream, {
    ...{ send, isRecovering: () => false, settleOrphan, claim: () => ({ kind: "open" }) as const },
    message: (id) => conversation.get(id)
  });
  const sink = {
    ...{ stream, desk, conversation, broadcast, ids, send, settleOrphan },
    ...{ foreignTool: () => undefined, opened: () => undefined },
    remember: (turn: Turn) => recovery.remember(turn),
    ended: (outcome: Parameters<Recovery["ended"]>[0]) => recovery.ended(outcome)
  };
  const overflow = overflowOf(world, life);
  const turns = new Turns({
    ...{ clock, ids, reportFailure: (error: unknown) => ({ text: String(error), error }) },
    ...{ responded: async () => undefined, idle: () => undefined, keepAlive: async () => () => undefined },
    ...{
      keepAliveAfterMs: () => 10_000,
      within: <Result>(_turn: Turn, work: () => Promise<Result>) => work()
    },
    openSink: (turn) => openChatSink(sink, turn),
    startModel: async (turn) => world.options.model(turn),
    rescue: {
      stallTimeoutMs: () => world.options.stallMs ?? 0,
      stalled: (live, timeoutMs) => recovery.stalled(live, timeoutMs),
      failed: (turn, cause, attempt) => overflow.failed(turn, cause, attempt)
    }
  });
  const recovery: Recovery = new Recovery({
    ...{ clock, ids, stream, conversation, broadcast, store: new IncidentStore(keyValue(world, life)) },
    ...platformOf(world, life),
    send: (id, frame) => void send(id, frame),
    run: (request) => turns.run(request),
    waitUntilStable: () => turns.whenIdle().then(() => true)
  });
  return { turns, recovery, stream, desk };
}

/** Who is connected gets what is sent, while the isolate lives. */
function socketsOf(world: RecoveryWorld, life: number) {
  const isAlive = whileAlive(world, life);
  const deliver = (frame: string, clients: readonly Client[]) => {
    if (!isAlive()) return false;
    const parsed = JSON.parse(frame) as Record<string, unknown>;
    for (const { frames } of clients) frames.push(parsed);
    return clients.length > 0;
  };
  const among = (isMeant: (id: string) => boolean) => world.clients.filter(({ id }) => isMeant(id));
  return {
    send: (id: string, frame: string) =>
      deliver(
        frame,
        among((other) => other === id)
      ),
    broadcast(frame: string, without: readonly string[] = []) {
      if (isAlive()) world.frames.push(JSON.parse(frame) as Record<string, unknown>);
      deliver(
        frame,
        among((id) => !without.includes(id))
      );
    }
  };
}

function overflowOf(world: RecoveryWorld, life: number): ContextOverflow {
  const isAlive = whileAlive(world, life);
  const { compact } = world.options;
  return new ContextOverflow({
    setting: () => (compact ? { reactive: true } : undefined),
    classify: () => defaultContextOverflowClassifier,
    compact: async () => ({ shortened: compact?.() ?? false }),
    emit: (type, payload) => void (isAlive() && world.events.push({ type, payload }))
  });
}

/** What recovery needs of the platform and of the author. */
function platformOf(world: RecoveryWorld, life: number) {
  const isAlive = whileAlive(world, life);
  const { ids } = world.clock;
  /** The platform takes its time; a dead isolate does not come back from there. */
  const platform = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    if (!isAlive()) await new Promise<never>(() => undefined);
  };
  return {
    emit: (type: string, payload: unknown) => void (isAlive() && world.events.push({ type, payload })),
    context: { clientTools: [], body: undefined, accept() {}, acceptTools() {}, restore() {}, clear() {} },
    schedules: {
      schedule: async (seconds: number, callback: RecoveryCallback, payload: unknown) => {
        const id = ids.next();
        const at = world.clock.now() + seconds * 1_000;
        await platform();
        world.planned.push({ id, at, callback, payload: structuredClone(payload) });
        await platform();
        return id;
      },
      rearm: async () => undefined,
      cancel: async (id: string) => void (world.planned = world.planned.filter((plan) => plan.id !== id))
    },
    setting: () => world.options.setting ?? {},
    hook: () => world.options.hook?.() ?? {},
    hasOpenQuestion: () => false,
    isTransient: (error: unknown) => error instanceof Error && error.message.includes("code was updated"),
    announce: () => undefined,
    sessionId: () => "",
    enterSession: async () => false
  };
}
