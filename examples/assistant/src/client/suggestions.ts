/** Requests that any model, the offline one included, can answer. */
import type { Suggestion } from "@cloudflare/think-example-kit/page";

export const SUGGESTIONS: readonly Suggestion[] = [
  {
    icon: "pencil",
    title: "Write a note",
    text: "write a file notes/today.md with # Today: ship the example and then read it back"
  },
  { icon: "folder", title: "Look around", text: "list files" },
  { icon: "terminal", title: "Run a command", text: "run echo 'hello from the workspace' | tr a-z A-Z" },
  { icon: "book", title: "Stream something long", text: "tell me a long story" }
];
