/** What a page has and Node has not: a document for React. Sockets, events and fetch stay Node's own. */
import { parseHTML } from "linkedom";

const { window, document, HTMLIFrameElement } = parseHTML("<!doctype html><html><body></body></html>");

Object.assign(window, { HTMLIFrameElement });
Object.assign(globalThis, { window, document });
