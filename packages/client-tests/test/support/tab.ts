/**
 * One browser tab: a page with the stock hook, on a line of its own. Tests wait for a state of the
 * page instead of sleeping.
 */
import { createElement, Suspense, useEffect } from "react";
import { createRoot, type Root } from "react-dom/client";
import { inject } from "vitest";
import type { ChatView, Client, PageMessage, TurnEnd } from "./clients";
import { openLine, type Line } from "./line";

/** Longest wait for a state of the page (milliseconds). The old client gives a probe five seconds; a busy machine needs more. */
const PATIENCE = 30_000;
/** The clients draw at most every 50 milliseconds; after this long the last change is on the page (milliseconds). */
const DRAWING = 100;

let tabs = 0;

export class Tab {
  readonly #client: Client;
  readonly #name: string;
  readonly line: Line;
  readonly #watchers = new Set<() => void>();
  readonly #marks = new Set<string>();
  #root: Root | undefined;
  #view: ChatView | undefined;
  #wasRecovering = false;
  /** How often the page ran its own tool. */
  toolRuns = 0;
  /** How requests ended, as the page was told. */
  readonly ends: TurnEnd[] = [];

  private constructor(client: Client, name: string, line: Line) {
    this.#client = client;
    this.#name = name;
    this.line = line;
  }

  /** Opens a page on a conversation and waits until it is connected. */
  static async open(client: Client, name: string): Promise<Tab> {
    const tab = new Tab(client, name, await openLine(inject("serverPort")));
    await tab.load();
    await tab.connected();
    return tab;
  }

  /** What the page shows now. */
  get view(): ChatView {
    if (this.#view === undefined) throw new Error("The page shows nothing yet; wait for load().");
    return this.#view;
  }

  get messages(): readonly PageMessage[] {
    return this.view.messages;
  }

  /** The text of the last message. */
  get lastText(): string {
    return textOf(this.messages.at(-1));
  }

  /** Whether the page ever said that it was recovering. */
  get wasRecovering(): boolean {
    return this.#wasRecovering;
  }

  /** Loads the page anew, as a browser does: the old one vanishes without a goodbye. */
  async reload(): Promise<void> {
    this.leave();
    await this.load();
    await this.connected();
  }

  /** Closes the page; the line stays. */
  leave(): void {
    this.line.cut();
    this.#root?.unmount();
    this.#root = undefined;
    this.#view = undefined;
  }

  async close(): Promise<void> {
    this.leave();
    await this.line.close();
  }

  /** Waits until the server has greeted the page. */
  async connected(): Promise<void> {
    await this.until("the greeting", (view) => view.isConnected);
  }

  /** Loses the connection in mid-stream, and waits until the page has caught up with the stream on a new one. */
  async loseConnection(): Promise<void> {
    const caughtUp = this.line.hears('"replayComplete":true');
    this.line.cut();
    await caughtUp;
  }

  /** Loads the page up to its history; the socket may still be connecting. */
  async load(): Promise<void> {
    tabs += 1;
    const useChat = await this.#client.load(tabs);
    const options = {
      host: `127.0.0.1:${this.line.port}`,
      name: this.#name,
      locate: async () => {
        this.toolRuns += 1;
        return { city: "Lisbon" };
      },
      onTurnEnd: (end: TurnEnd) => {
        this.ends.push(end);
        for (const look of this.#watchers) look();
      },
      onMessage: ({ data }: MessageEvent) => this.#notice(data)
    };
    const Page = () => {
      const view = useChat(options);
      useEffect(() => this.#show(view));
      return null;
    };
    this.#root = createRoot(document.createElement("div"));
    this.#root.render(createElement(Suspense, { fallback: null }, createElement(Page)));
    await this.until("the page to load", () => true);
  }

  /** Resolves as soon as the page is in a state; rejects with what it shows instead. */
  async until(wanted: string, condition: (view: ChatView) => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const look = (): void => {
      if (this.#view !== undefined && condition(this.#view)) resolve(true);
    };
    const timer = setTimeout(() => resolve(false), PATIENCE);
    this.#watchers.add(look);
    look();
    const isReached = await promise;
    clearTimeout(timer);
    this.#watchers.delete(look);
    if (!isReached)
      throw new Error(`Waited ${PATIENCE} ms for ${wanted}. The page shows ${this.#describe()}`);
  }

  /** Waits until nothing is going on and the text of the last message is exactly this. */
  async answered(text: string): Promise<void> {
    await this.until(`the answer "${text}"`, (view) => isIdle(view) && textOf(view.messages.at(-1)) === text);
  }

  /** Waits until nothing is going on any more. */
  async ended(): Promise<void> {
    await this.until("the end", isIdle);
  }

  /** Waits until the text of the last message is exactly this. */
  async shows(text: string): Promise<void> {
    await this.until(`"${text}"`, (view) => textOf(view.messages.at(-1)) === text);
  }

  /** Sends a message; does not wait for the answer. */
  send(text: string): void {
    void this.view.sendMessage({ text });
  }

  /** Waits until the page has seen a mark of the server, and with it everything before, and has drawn it. */
  async sees(mark: string): Promise<void> {
    await this.until(`the mark ${mark}`, () => this.#marks.has(mark));
    await new Promise((resolve) => setTimeout(resolve, DRAWING));
    // When the machine was busy, this wait and the client's own end in the same moment: the drawing itself takes some turns of the loop.
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  #notice(data: unknown): void {
    const [, mark] = typeof data === "string" ? (/^\{"mark":"([\w-]+)"\}$/u.exec(data) ?? []) : [];
    if (mark === undefined) return;
    this.#marks.add(mark);
    this.#look();
  }

  #show(view: ChatView): void {
    if (view.isRecovering) this.#wasRecovering = true;
    this.#view = view;
    this.#look();
  }

  #look(): void {
    for (const look of [...this.#watchers]) look();
  }

  #describe(): string {
    if (this.#view === undefined) return "nothing.";
    const { messages, status, isServerStreaming, error } = this.#view;
    return JSON.stringify({ status, isServerStreaming, error: error?.message, messages }, undefined, 1);
  }
}

/** The text of a message, its parts joined. */
export function textOf(message: PageMessage | undefined): string {
  return (message?.parts ?? []).map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("");
}

/** Whether the page neither waits for anything nor receives anything. */
function isIdle({ status, isStreaming }: ChatView): boolean {
  return (status === "ready" || status === "error") && !isStreaming;
}
