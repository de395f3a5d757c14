/**
 * One reading of a URL: GET, redirects followed by hand, everything within one time limit, the body up to one size limit. Called by the tool.
 *
 * Invariants
 * 1. No request goes out to a URL that the allow-list has not just accepted; the platform follows no redirect by itself.
 * 2. No body is held in memory beyond its limit, and a body that is not read to its end is cancelled.
 * 3. It ends in time even when the given `fetch` ignores its signal. Nothing is thrown: a failure is a sentence.
 */
import { errorText } from "../../shared/errors/error-text";
import { FETCH_TOOL_LIMITS } from "../../shared/limits";
import { cutText } from "../workspace/format";
import { shown, type AllowList } from "./allow-list";

/** The part of the platform's `fetch` that is used. */
export type FetchFunction = (
  url: string,
  init: {
    readonly method: "GET";
    readonly redirect: "manual";
    readonly headers: Readonly<Record<string, string>>;
    readonly signal: AbortSignal;
  }
) => Promise<Response>;

export interface RequestSettings {
  readonly allow: AllowList;
  readonly fetch: FetchFunction;
  /** In ms. */
  readonly timeout: number;
  readonly maxBytes: number;
}

export interface Page {
  /** Where the redirects ended. */
  readonly url: URL;
  readonly contentType: string;
  readonly bytes: Uint8Array;
  /** Whether the body was longer than the limit. */
  readonly cut: boolean;
}

export type PageResult =
  | { readonly ok: true; readonly page: Page }
  | { readonly ok: false; readonly error: string };

/** Markdown where the server has it, then what can be turned into it. */
const ACCEPT =
  "text/markdown, text/plain;q=0.9, text/html;q=0.8, application/json;q=0.8, application/xml;q=0.7, */*;q=0.1";

/** The longest part of a network error that the model sees, in UTF-16 code units. */
const ERROR_CHARS = 200;

export async function requestPage(
  text: string,
  settings: RequestSettings,
  cancelled: AbortSignal | undefined
): Promise<PageResult> {
  const stop = new AbortController();
  const ended = Promise.withResolvers<PageResult>();
  const end = (error: string) => {
    ended.resolve({ ok: false, error });
    stop.abort();
  };
  const onCancel = () => end("The fetch was stopped, because the turn was cancelled.");
  if (cancelled?.aborted === true) onCancel();
  cancelled?.addEventListener("abort", onCancel, { once: true });
  const timer = setTimeout(
    () => end(`The page did not arrive within ${settings.timeout} ms; try it later, or another address.`),
    settings.timeout
  );
  try {
    return await Promise.race([ended.promise, follow(text, settings, stop.signal)]);
  } finally {
    clearTimeout(timer);
    cancelled?.removeEventListener("abort", onCancel);
    // Also frees what a `fetch` still holds open.
    stop.abort();
  }
}

async function follow(text: string, settings: RequestSettings, signal: AbortSignal): Promise<PageResult> {
  let target = text;
  let from: URL | undefined;
  for (let redirects = 0; redirects <= FETCH_TOOL_LIMITS.redirects; redirects++) {
    const checked = settings.allow.check(target, from);
    if (!checked.ok) {
      return from === undefined
        ? checked
        : failed(`${shown(from)} redirects, but ${uncapital(checked.error)}`);
    }
    const { url } = checked;
    // The signal may have ended the call while a redirect was on its way.
    if (signal.aborted) return failed("The fetch was stopped.");
    try {
      const response = await ask(url, settings, signal);
      if (response.redirected) {
        // A `fetch` of the application that follows redirects would go where nobody looked.
        await response.body?.cancel();
        return failed(
          `${shown(url)} could not be read: this agent's fetch followed a redirect without a check.`
        );
      }
      const location = redirectOf(response);
      if (location === undefined) return await toPage(url, response, settings.maxBytes);
      await response.body?.cancel();
      from = url;
      target = location;
    } catch (error) {
      return failed(`${shown(url)} could not be read: ${cutText(errorText(error), ERROR_CHARS)}.`);
    }
  }
  return failed(
    `The page redirects more than ${FETCH_TOOL_LIMITS.redirects} times; ask for its final address.`
  );
}

function ask(url: URL, settings: RequestSettings, signal: AbortSignal): Promise<Response> {
  return settings.fetch(url.href, {
    method: "GET",
    redirect: "manual",
    headers: { accept: ACCEPT, "user-agent": "think-fetch" },
    signal
  });
}

function redirectOf(response: Response): string | undefined {
  const redirects = [301, 302, 303, 307, 308].includes(response.status);
  return redirects ? (response.headers.get("location") ?? undefined) : undefined;
}

async function toPage(url: URL, response: Response, maxBytes: number): Promise<PageResult> {
  if (!response.ok) {
    await response.body?.cancel();
    const meaning = response.statusText === "" ? "" : ` (${cutText(response.statusText, 50)})`;
    return failed(`${shown(url)} answered with status ${response.status}${meaning}.`);
  }
  const contentType = response.headers.get("content-type") ?? "";
  return { ok: true, page: { url, contentType, ...(await readBody(response, maxBytes)) } };
}

async function readBody(response: Response, maxBytes: number): Promise<Pick<Page, "bytes" | "cut">> {
  if (response.body === null) return { bytes: new Uint8Array(), cut: false };
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    chunks.push(part.value);
    length += part.value.byteLength;
    if (length > maxBytes) {
      await reader.cancel();
      break;
    }
  }
  const bytes = new Uint8Array(Math.min(length, maxBytes));
  let at = 0;
  for (const chunk of chunks) {
    const kept = chunk.subarray(0, bytes.length - at);
    bytes.set(kept, at);
    at += kept.length;
  }
  return { bytes, cut: length > maxBytes };
}

function failed(error: string): PageResult {
  return { ok: false, error };
}

function uncapital(text: string): string {
  return /^(?:The|That|Only)\b/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}
