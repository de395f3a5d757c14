/**
 * Agents for the tests of `@cloudflare/think/testing`. They speak just enough of the chat protocol to put
 * the helpers to the test without depending on Think.
 */
import { Agent, type Connection } from "agents";
import { stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import type * as Main from "./index";
import { scriptedModel, type ScriptedModel } from "@cloudflare/think/testing";

declare global {
  namespace Cloudflare {
    interface GlobalProps {
      mainModule: typeof Main;
    }
    interface Env {
      readonly TestingChat: DurableObjectNamespace<TestingChat>;
    }
  }
}

interface ChatRequest {
  readonly type: string;
  readonly id: string;
  readonly init?: { readonly body?: string };
}

/** A bare chat agent: streams what its model says to every connection and offers the stream to latecomers. */
export class TestingChat extends Agent<Cloudflare.Env> {
  model: ScriptedModel = scriptedModel(["Hello!"]);
  bodies: unknown[] = [];
  mark: string | undefined;
  #stream: { id: string; frames: string[]; abort: AbortController } | undefined;

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env);
    // Something for a row counter to find that runs in no other place.
    ctx.storage.sql.exec("SELECT 'constructed'").toArray();
  }

  /** Writes two rows: the note and its entry in the index. */
  addNote(body: string): void {
    void this.sql`CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, body TEXT)`;
    void this.sql`CREATE INDEX IF NOT EXISTS notes_body ON notes (body)`;
    void this.sql`INSERT INTO notes (body) VALUES (${body})`;
  }

  countNotes(): number {
    return this.sql<{ n: number }>`SELECT count(*) AS n FROM notes`[0]?.n ?? 0;
  }

  leaveMark(mark: string): void {
    this.mark = mark;
  }

  override async onMessage(connection: Connection, message: string): Promise<void> {
    const frame: ChatRequest = JSON.parse(message);
    if (frame.type === "cf_agent_use_chat_request") await this.#run(frame);
    if (frame.type === "cf_agent_chat_request_cancel") this.#stream?.abort.abort();
    if (frame.type === "cf_agent_stream_resume_request") {
      const offer = this.#stream && { type: "cf_agent_stream_resuming", id: this.#stream.id };
      connection.send(JSON.stringify(offer ?? { type: "cf_agent_stream_resume_none" }));
    }
    if (frame.type === "cf_agent_stream_resume_ack") {
      for (const sent of this.#stream?.frames ?? [])
        connection.send(JSON.stringify({ ...JSON.parse(sent), replay: true }));
    }
    if (frame.type === "cf_agent_chat_clear") this.broadcast(JSON.stringify({ type: "cf_agent_chat_clear" }));
    if (frame.type === "binary") connection.send(new Uint8Array([1, 2]));
  }

  override async onRequest(): Promise<Response> {
    return Response.json([{ id: "one", role: "user", parts: [] }]);
  }

  async #run({ id, init }: ChatRequest): Promise<void> {
    const body = JSON.parse(init?.body ?? "{}");
    this.bodies.push(body);
    if (body.note === true) this.addNote("a turn");
    const stream = { id, frames: [] as string[], abort: new AbortController() };
    this.#stream = stream;
    const send = (rest: Record<string, unknown>) => {
      const frame = JSON.stringify({
        type: "cf_agent_use_chat_response",
        id,
        body: "",
        done: false,
        ...rest
      });
      stream.frames.push(frame);
      this.broadcast(frame);
    };
    const result = streamText({
      model: this.model,
      prompt: body.messages.at(-1).parts[0].text,
      tools: {
        add: tool({ inputSchema: z.object({ a: z.number(), b: z.number() }), execute: ({ a, b }) => a + b })
      },
      stopWhen: stepCountIs(5),
      abortSignal: stream.abort.signal,
      onError: () => {}
    });
    for await (const chunk of result.toUIMessageStream({ onError: (error) => String(error) })) {
      if (chunk.type === "error") send({ body: chunk.errorText, error: true });
      else send({ body: JSON.stringify(chunk) });
    }
    send({ done: true });
    this.#stream = undefined;
  }
}
