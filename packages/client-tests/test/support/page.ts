/**
 * What a page has and Node has not: a document for React, and sockets whose events come in tasks of their own. Everything
 * else stays Node's.
 */
import { parseHTML } from "linkedom";

const { window, document, HTMLIFrameElement } = parseHTML("<!doctype html><html><body></body></html>");

/**
 * Node dispatches all frames of one packet in one go; a browser lets the page digest each frame before the next. Clients
 * depend on it: a message list that overtakes the last chunks of a stream is undone by them.
 */
class PageSocket extends WebSocket {
  readonly #waiting: Event[] = [];

  override dispatchEvent(event: Event): boolean {
    this.#waiting.push(event);
    if (this.#waiting.length === 1) setImmediate(() => this.#next());
    return true;
  }

  #next(): void {
    const [event] = this.#waiting;
    if (event === undefined) return;
    super.dispatchEvent(event);
    this.#waiting.shift();
    if (this.#waiting.length > 0) setImmediate(() => this.#next());
  }
}

Object.assign(window, { HTMLIFrameElement });
Object.assign(globalThis, { window, document, WebSocket: PageSocket });
