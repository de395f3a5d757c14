/** One conversation on the server and the tabs that look at it. Each test has its own. */
import { expect, inject } from "vitest";
import type { Client, PageMessage } from "./clients";
import { Tab } from "./tab";

/** How long a page may take to show what the server has (milliseconds). */
const PATIENCE = 2000;

let rooms = 0;

export class Room {
  readonly #client: Client;
  readonly #tabs: Tab[] = [];
  readonly #url: string;
  readonly #name: string;

  constructor(client: Client) {
    rooms += 1;
    this.#client = client;
    this.#name = `room-${process.pid}-${rooms}`;
    this.#url = `http://127.0.0.1:${inject("serverPort")}/agents/chat/${this.#name}`;
  }

  /** Opens a tab on the conversation. */
  async open(): Promise<Tab> {
    const tab = await Tab.open(this.#client, this.#name);
    this.#tabs.push(tab);
    return tab;
  }

  /** Waits until the model stands at a gate of its script. */
  async reached(label: string): Promise<void> {
    await this.#request(`gate/${label}`, "GET");
  }

  /** Lets the model pass a gate, now and whenever it comes there. */
  async release(label: string): Promise<void> {
    await this.#request(`gate/${label}`, "POST");
  }

  /** What the server has stored. */
  async history(): Promise<readonly PageMessage[]> {
    const response = await this.#request("get-messages", "GET");
    const messages: readonly PageMessage[] = await response.json();
    return messages;
  }

  /** Every page shows what the server has, message for message, and none ever claimed to recover. */
  async expectAgreement(): Promise<void> {
    const stored = await this.history();
    for (const tab of this.#tabs) {
      await expect.poll(() => plain(tab.messages), { timeout: PATIENCE, interval: 20 }).toEqual(stored);
      expect(tab.wasRecovering).toBe(false);
    }
  }

  /** Closes the tabs. */
  async close(): Promise<void> {
    await Promise.all(this.#tabs.map((tab) => tab.close()));
  }

  async #request(path: string, method: string): Promise<Response> {
    const response = await fetch(`${this.#url}/${path}`, { method });
    if (!response.ok) throw new Error(`${method} ${path} was answered with ${response.status}.`);
    return response;
  }
}

/**
 * As it would arrive over the wire: fields that are undefined are not there. AI SDK 7 also keeps the name a reasoning part
 * had in the stream; it means nothing after the stream and is not part of a stored message.
 */
function plain(messages: readonly PageMessage[]): unknown {
  return JSON.parse(JSON.stringify(messages), (_key, value: unknown) => {
    if (typeof value !== "object" || value === null || !("type" in value) || value.type !== "reasoning") return value;
    const { id: _id, ...part } = value as typeof value & { readonly id?: unknown };
    return part;
  });
}
