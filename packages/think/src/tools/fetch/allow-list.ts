/**
 * The rule which URLs may be fetched. An entry is a URL: its scheme and port must be the same, its host the same or matched by a leading
 * `*.`, its path a prefix in whole segments. Every redirect is checked here again. Pure.
 */
import { ThinkError } from "../../shared/errors/think-error";
import { FETCH_TOOL_LIMITS } from "../../shared/limits";
import { cutText } from "../workspace/format";
import { reasonNotPublic } from "./address";

const limits = FETCH_TOOL_LIMITS;

export type UrlCheck =
  | { readonly ok: true; readonly url: URL }
  /** One sentence for the model. */
  | { readonly ok: false; readonly error: string };

interface Entry {
  readonly protocol: string;
  /** Without the wildcard; empty for "any host". */
  readonly host: string;
  readonly subdomains: boolean;
  readonly port: string;
  readonly path: string;
}

export interface AllowList {
  /** Checks what a model or a server asked for; relative references are resolved against `base`. */
  check(text: string, base?: URL): UrlCheck;
  /** The entries as the application wrote them, for the tool's description. */
  readonly entries: readonly string[];
}

/** Parses the entries; throws for one that could not mean what it says. */
export function createAllowList(entries: readonly string[]): AllowList {
  if (entries.length === 0 || entries.length > limits.allowEntries) {
    throw invalid(
      `The allow-list of the fetch tool has ${entries.length} entries: give it between 1 and ${limits.allowEntries}, ` +
        `for example "https://developers.example.com/docs/".`
    );
  }
  const parsed = entries.map(parseEntry);
  return {
    entries,
    check: (text, base) => {
      const url = parseUrl(text, base);
      if (typeof url === "string") return { ok: false, error: url };
      const reason = reasonNotPublic(url.hostname);
      if (reason !== undefined) {
        return {
          ok: false,
          error: `${shown(url)} is refused: ${cutText(url.hostname, limits.shownUrlChars)} is ${reason}.`
        };
      }
      if (!parsed.some((entry) => matches(entry, url))) {
        return { ok: false, error: `${shown(url)} is not on the list of addresses that fetch may read.` };
      }
      return { ok: true, url };
    }
  };
}

/** A URL in an error: no query, which may hold secrets, and not too long. */
export function shown(url: URL): string {
  return cutText(url.origin + url.pathname, limits.shownUrlChars);
}

function parseUrl(text: string, base: URL | undefined): URL | string {
  if (text.length > limits.urlChars) return `The URL is longer than ${limits.urlChars} characters.`;
  let url: URL;
  try {
    url = base === undefined ? new URL(text) : new URL(text, base);
  } catch {
    return "That is not an absolute URL; write it in full, as in https://example.com/page.";
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    return `Only https URLs can be fetched, not ${cutText(url.protocol, 20)}`;
  }
  if (url.username !== "" || url.password !== "") {
    return "The URL contains a user name or password; leave them out.";
  }
  url.hash = "";
  // One more dot means the same host, and would slip past a comparison of names.
  url.hostname = url.hostname.replace(/\.+$/, "");
  return url;
}

function matches(entry: Entry, url: URL): boolean {
  if (url.protocol !== entry.protocol || url.port !== entry.port) return false;
  const sameHost = entry.subdomains
    ? entry.host === "" || url.hostname.endsWith(`.${entry.host}`)
    : url.hostname === entry.host;
  if (!sameHost) return false;
  if (entry.path === "/") return true;
  // Some servers take an encoded slash for a slash, and would then leave the allowed part.
  if (/%2f|%5c/i.test(url.pathname)) return false;
  return entry.path.endsWith("/")
    ? url.pathname.startsWith(entry.path)
    : url.pathname === entry.path || url.pathname.startsWith(`${entry.path}/`);
}

function parseEntry(text: string): Entry {
  const any = /^(https?):\/\/\*(\.[^/?#]+)?((?::\d+)?(?:\/.*)?)$/i.exec(text);
  // The parser of hosts must not see the star.
  const plain =
    any === null ? text : `${any[1]}://${any[2] === undefined ? "any.example" : any[2].slice(1)}${any[3]}`;
  let url: URL;
  try {
    url = new URL(plain);
  } catch {
    throw invalid(
      `"${text}" in the allow-list of the fetch tool is not a URL: write "https://example.com/docs/".`
    );
  }
  if ((url.protocol !== "https:" && url.protocol !== "http:") || url.hostname.includes("*")) {
    throw invalid(
      `"${text}" in the allow-list of the fetch tool must be an http or https URL; a star may only be the first label ` +
        `of the host, as in "https://*.example.com/".`
    );
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw invalid(
      `"${text}" in the allow-list of the fetch tool has a user, query or fragment: only scheme, host, port and path count.`
    );
  }
  const host = url.hostname.replace(/\.+$/, "");
  // For a wildcard, any name below it decides.
  const reason = reasonNotPublic(any === null ? host : `www.${host}`);
  if (reason !== undefined) {
    throw invalid(`"${text}" in the allow-list of the fetch tool can never be read: ${host} is ${reason}.`);
  }
  return {
    protocol: url.protocol,
    host: any !== null && any[2] === undefined ? "" : host,
    subdomains: any !== null,
    port: url.port,
    path: url.pathname
  };
}

function invalid(message: string): ThinkError {
  return new ThinkError(message, { code: "invalid-option" });
}
