/**
 * Decides what one model step does: the next tool call of the request, or the answer once all of them are done.
 * Called by the model. Pure: the same situation always gives the same plan.
 */
import { describeResult } from "./answers";
import { parseIntent } from "./intent";
import { FAILURE, fallback, GREETING, HELP, IDENTITY, STORY, THANKS, thinkAbout } from "./texts";
import type { Plan, Situation, ToolCall, Utterance } from "@cloudflare/think-example-kit/model";
import type { Intent } from "./types";

export function plan(situation: Situation): Plan {
  return planStep(parseIntent(situation.request), situation);
}

function planStep(intent: Intent, situation: Situation): Plan {
  const calls = toolCalls(intent);
  if (calls.length === 0) return speak(intent, situation.request);
  const last = situation.results.at(-1);
  const done = situation.results.length;
  const next = calls[done];
  // A failed tool ends the chain: reading back a file that was not written would only confuse.
  if (last !== undefined && (last.failed || next === undefined)) {
    const call = calls[Math.min(done, calls.length) - 1];
    return [text(describeResult(call?.input ?? {}, last, intent))];
  }
  if (next === undefined) return [];
  if (!situation.tools.has(next.toolName)) {
    return [
      text(
        `I would use the \`${next.toolName}\` tool for that, but it is not switched on in this assistant. ` +
          `Add it in \`getTools()\` in \`src/server.ts\`.`
      )
    ];
  }
  return done === 0
    ? [text(announce(intent)), { type: "tool-call", call: next }]
    : [text("Now I read it back."), { type: "tool-call", call: next }];
}

/** The tools a request needs, in order. */
function toolCalls(intent: Intent): readonly ToolCall[] {
  switch (intent.kind) {
    case "list":
      return [{ toolName: "list", input: { path: intent.path } }];
    case "read":
      return [{ toolName: "read", input: { path: intent.path } }];
    case "write": {
      const write = { toolName: "write", input: { path: intent.path, content: intent.content } };
      return intent.readBack ? [write, { toolName: "read", input: { path: intent.path } }] : [write];
    }
    case "replace":
      return [
        { toolName: "edit", input: { path: intent.path, old_string: intent.from, new_string: intent.to } }
      ];
    case "find":
      return [{ toolName: "find", input: { pattern: intent.pattern } }];
    case "search": {
      const include = intent.include === undefined ? {} : { include: intent.include };
      return [{ toolName: "grep", input: { query: intent.query, fixedString: true, ...include } }];
    }
    case "run":
      return [{ toolName: "bash", input: { script: intent.script } }];
    case "delete":
      return [{ toolName: "delete", input: { path: intent.path, recursive: intent.recursive } }];
    default:
      return [];
  }
}

function announce(intent: Intent): string {
  switch (intent.kind) {
    case "list":
      return `Let me look in \`${intent.path}\`.`;
    case "read":
      return `Opening \`${intent.path}\`.`;
    case "write":
      return `Writing \`${intent.path}\`.`;
    case "replace":
      return `Editing \`${intent.path}\`.`;
    case "find":
      return `Looking for \`${intent.pattern}\`.`;
    case "search":
      return `Searching the workspace for “${intent.query}”.`;
    case "run":
      return "Running that in the workspace shell.";
    case "delete":
      return `Deleting \`${intent.path}\`.`;
    default:
      return "One moment.";
  }
}

/** The answer to a request that needs no tool. */
function speak(intent: Intent, request: string): Plan {
  switch (intent.kind) {
    case "help":
      return [text(HELP)];
    case "greeting":
      return [text(GREETING)];
    case "thanks":
      return [text(THANKS)];
    case "identity":
      return [text(IDENTITY)];
    case "story":
      return [{ type: "text", text: STORY, pace: "slow" }];
    case "think": {
      const { reasoning, answer } = thinkAbout(intent.topic);
      return [{ type: "reasoning", text: reasoning }, text(answer)];
    }
    case "fail":
      return [text(FAILURE.before), { type: "error", message: FAILURE.message }];
    default:
      return [text(fallback(request))];
  }
}

function text(words: string): Utterance {
  return { type: "text", text: words, pace: "brisk" };
}
