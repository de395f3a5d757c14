/**
 * Search over all sessions for a model: results as text, as a tool and as a read-only context block.
 */
import type { ToolSet } from "ai";
import { z } from "zod";
import { SESSION_LIMITS } from "../shared/limits";
import { textTool } from "./context/context-tools";
import type { SearchProvider } from "./context/provider";
import type { SearchResult } from "./search-index";

/** What these need of a manager. */
export interface SearchableSessions {
  search(query: string, options: { readonly limit: number }): SearchResult[];
  /** What people call a session. */
  nameOf(sessionId: string): string;
}

/** `session_search{query}`. */
export function sessionSearchTools(sessions: SearchableSessions): ToolSet {
  return {
    session_search: textTool({
      description: "Search all conversations, earlier ones included; every word must occur in a message.",
      inputSchema: z.object({ query: z.string().describe("Words to look for") }),
      run: async ({ query }) => searchText(sessions, query) ?? "No results found"
    })
  };
}

/** The content never changes, so that searching costs no prompt cache. */
export function searchableHistory(sessions: SearchableSessions): SearchProvider {
  return {
    get: () => "All conversations, earlier ones included. Search them for what was said.",
    search: (query) => searchText(sessions, query)
  };
}

function searchText(sessions: SearchableSessions, query: string): string | null {
  const found = sessions.search(query, { limit: SESSION_LIMITS.toolSearchResults });
  if (found.length === 0) return null;
  return found
    .map((result) => `${heading(sessions, result)}\n${excerpt(result.content, query)}`)
    .join("\n\n");
}

/** `[New Chat, user, 2026-11-18]` */
function heading(sessions: SearchableSessions, { sessionId, role, createdAt }: SearchResult): string {
  const day = createdAt ? [createdAt.toISOString().slice(0, 10)] : [];
  return `[${[sessions.nameOf(sessionId), role, ...day].join(", ")}]`;
}

/** A long text around the first place where a word of the query occurs as it is written. */
export function excerpt(
  text: string,
  query: string,
  chars: number = SESSION_LIMITS.searchExcerptChars
): string {
  if (text.length <= chars) return text;
  const lower = text.toLowerCase();
  const places = query
    .toLowerCase()
    .split(/\s+/u)
    .flatMap((word) => (word === "" || !lower.includes(word) ? [] : [lower.indexOf(word)]));
  const first = places.length === 0 ? 0 : Math.min(...places);
  const start = Math.max(0, Math.min(first - Math.floor(chars / 4), text.length - chars));
  const end = start + chars;
  return `${start > 0 ? "…" : ""}${text.slice(start, end).toWellFormed()}${end < text.length ? "…" : ""}`;
}
