/** One conversation on the server and the tabs that look at it. Each test has its own. */
import { expect, inject, test } from "vitest";
import type { Client, PageMessage, PagePart } from "./clients";
import { Tab } from "./tab";

/** Tests that get a room of their own, with the given client in its tabs. */
export function testIn(client: Client) {
  return test.extend<{ readonly room: Room }>({
    // The runner finds out what a fixture needs from this first argument, and insists on the braces.
    // eslint-disable-next-line no-empty-pattern
    room: async ({}, use) => {
      const room = new Room(client);
      await use(room);
      await room.close();
    }
  });
}

let rooms = 0;

export class Room {
  readonly #client: Client;
  readonly #tabs: Tab[] = [];
  readonly #url: string;
  readonly #name: string;
  #marks = 0;

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

  /** Makes a session the active one; `new` makes one. */
  async enter(session: string): Promise<void> {
    await this.#request(`session/${session}`, "POST");
  }

  /** Follows the branch that a message begins. */
  async follow(messageId: string): Promise<void> {
    await this.#request(`branch/${messageId}`, "POST");
  }

  /** What the server has stored. */
  async history(): Promise<readonly PageMessage[]> {
    const response = await this.#request("get-messages", "GET");
    const messages: readonly PageMessage[] = await response.json();
    return messages;
  }

  /** When all that is on its way has arrived, every page shows what the server has, and none ever claimed to recover. */
  async expectAgreement(): Promise<void> {
    this.#marks += 1;
    const mark = `${this.#name}-${this.#marks}`;
    await this.#request(`mark/${mark}`, "POST");
    await Promise.all(this.#tabs.map((tab) => tab.sees(mark)));
    const stored = plain(await this.history());
    for (const [index, tab] of this.#tabs.entries()) {
      const which = `tab ${index + 1} of ${this.#tabs.length}`;
      expect(plain(tab.messages), which).toEqual(stored);
      expect(tab.view.isStreaming, which).toBe(false);
      expect(tab.wasRecovering, which).toBe(false);
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
 * What a message says, without how a client keeps it: fields that are undefined would not travel, AI SDK 7 keeps the name a
 * reasoning part had in the stream, and watching clients note a tool's name beside the type that holds it already.
 */
function plain(messages: readonly PageMessage[]): unknown {
  return JSON.parse(JSON.stringify(messages), (_key, value: unknown) =>
    isPart(value) ? withoutNames(value) : value
  );
}

function isPart(value: unknown): value is PagePart {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function withoutNames(part: PagePart): unknown {
  const own = Object.entries(part).filter(([key]) => key !== (part.type === "reasoning" ? "id" : "toolName"));
  return Object.fromEntries(own);
}
