/**
 * Turns a sentence into an {@link Intent}. Called by the planner once per step.
 *
 * Invariants: pure; the first matching rule wins, so narrow rules come first; the length of a request is bounded,
 * so that an expression which has to look back over it stays instant.
 */
import { asPath, looksLikeFile, stripFence, unquote } from "./phrases";
import type { Intent } from "./types";

/** Longer requests are not parsed (characters): no command of this model needs more. */
const MAXIMUM_REQUEST = 4_000;

type Rule = (request: string) => Intent | undefined;

const READ_BACK =
  /[,;.]?\s+(?:and\s+)?(?:then\s+)?(?:read|show)\s+(?:it|that|the file)(?:\s+(?:back|to me))*\s*[.!]?$/i;

const help: Rule = (request) =>
  /^(?:help|commands|what can you do|what do you know|how does this work)\b/i.test(request)
    ? { kind: "help" }
    : undefined;

const greeting: Rule = (request) =>
  /^(?:hi|hello|hey|good (?:morning|evening|day)|moin)\b[^a-z]*(?:there|assistant|everyone)?[^a-z]*$/i.test(
    request
  )
    ? { kind: "greeting" }
    : undefined;

const thanks: Rule = (request) =>
  /^(?:many thanks|thanks|thank you|thx|cheers)(?: a lot| so much| very much)?[^a-z]*$/i.test(request)
    ? { kind: "thanks" }
    : undefined;

const identity: Rule = (request) =>
  /^(?:who|what) are you\b[^a-z]*$|^what(?:'s|’s| is) your name\b|^are you (?:a|an|real)\b/i.test(request)
    ? { kind: "identity" }
    : undefined;

const fail: Rule = (request) =>
  /^(?:fail|break|crash|throw|show (?:me )?an error)\b/i.test(request) ? { kind: "fail" } : undefined;

const story: Rule = (request) =>
  /\b(?:story|tale)\b|\blong (?:answer|text|reply)\b/i.test(request) ? { kind: "story" } : undefined;

const think: Rule = (request) => {
  const match = /^think(?:\s+(?:hard|carefully))?(?:\s+(?:about|over|through))?\s+(.+)$/is.exec(request);
  return match?.[1] === undefined
    ? undefined
    : { kind: "think", topic: unquote(match[1]).replace(/[.?!]+$/, "") };
};

const run: Rule = (request) => {
  const match = /^(?:run|execute|bash|sh|\$)(?:\s+the\s+command)?(?:\s+this)?\s*:?\s+(.+)$/is.exec(request);
  return match?.[1] === undefined ? undefined : { kind: "run", script: unquote(stripFence(match[1])) };
};

const write: Rule = (request) => {
  if (!/^(?:write|create|make|save|add|put)\b/i.test(request)) return undefined;
  const readBack = READ_BACK.test(request);
  const sentence = request.replace(READ_BACK, "");
  const named =
    /^\w+\s+(?:me\s+)?(?:an?\s+|the\s+)?(?:new\s+)?(file\s+|note\s+)?(?:called\s+|named\s+|at\s+)?(\S+)\s+(?:with|containing|saying|that says)\b(?:\s+the)?(?:\s+(?:text|content|contents|words))?:?\s+(.+)$/is.exec(
      sentence
    );
  if (
    named?.[2] !== undefined &&
    named[3] !== undefined &&
    (named[1] !== undefined || looksLikeFile(named[2]))
  ) {
    return { kind: "write", path: asPath(named[2]), content: unquote(stripFence(named[3])), readBack };
  }
  const into = /^\w+\s+(.+)\s+(?:to|into|in)\s+(?:the\s+|a\s+)?(?:file\s+)?(\S+)$/is.exec(sentence);
  if (into?.[1] !== undefined && into[2] !== undefined && looksLikeFile(into[2])) {
    return { kind: "write", path: asPath(into[2]), content: unquote(stripFence(into[1])), readBack };
  }
  return undefined;
};

const replace: Rule = (request) => {
  const match =
    /^(?:replace|change|edit|swap)\s+(.+?)\s+(?:with|to|by|for)\s+(.+)\s+in\s+(?:the\s+)?(?:file\s+)?(\S+)$/is.exec(
      request
    );
  if (match?.[1] === undefined || match[2] === undefined || match[3] === undefined) return undefined;
  return { kind: "replace", path: asPath(match[3]), from: unquote(match[1]), to: unquote(match[2]) };
};

const remove: Rule = (request) => {
  const match =
    /^(?:delete|remove|rm)\s+(?:the\s+)?(file\s+|folder\s+|directory\s+)?(?:everything\s+in\s+)?(\S+)(?:\s+(?:folder|directory))?$/i.exec(
      request
    );
  if (match?.[2] === undefined) return undefined;
  return {
    kind: "delete",
    path: asPath(match[2]),
    recursive: /\b(?:folder|directory|everything)\b/i.test(request)
  };
};

const find: Rule = (request) => {
  const match =
    /^find\s+(?:me\s+)?(?:all\s+)?(?:the\s+)?(?:files?\s+)?(?:(?:matching|named|called|like)\s+)?(\S+)(?:\s+files?)?$/i.exec(
      request
    );
  const pattern = match?.[1] === undefined ? undefined : unquote(match[1]);
  if (pattern === undefined || !/[*?./[{]/.test(pattern)) return undefined;
  return { kind: "find", pattern: pattern.includes("/") ? asPath(pattern) : `/**/${pattern}` };
};

const search: Rule = (request) => {
  const match =
    /^(?:search|grep|find|look)(?:\s+(?:my|the|all)\s+files)?(?:\s+for)?\s+(.+?)(?:\s+in\s+(?:(?:my|the|all)\s+files|(\/\S*)))?$/is.exec(
      request
    );
  if (match?.[1] === undefined) return undefined;
  const folder = match[2] === undefined ? undefined : asPath(match[2]).replace(/\/$/, "");
  return {
    kind: "search",
    query: unquote(match[1]),
    include: folder === undefined ? undefined : `${folder}/**`
  };
};

const list: Rule = (request) => {
  if (/^(?:what|which) files (?:do I have|have I got|exist|are here)$/i.test(request))
    return { kind: "list", path: "/" };
  const match =
    /^(?:list|ls|show(?:\s+me)?|what(?:'s|’s| is| are)?)\b(?:\s+(?:me|all|my|the|of))*(?:\s+(?:files?|folders?|entries|everything|workspace))*(?:\s+(?:are|is))?(?:\s+there)?(?:\s*(?:in|under|at|of))?(?:\s+(?:my|the)\s+(?:workspace|files))?(?:\s+(\/\S*))?$/i.exec(
      request
    );
  if (match === null) return undefined;
  if (match[1] === undefined && !/^ls$|\b(?:list|files?|folders?|workspace|everything)\b/i.test(request))
    return undefined;
  // "show /notes.txt" is a file to read, "list /notes.txt" is taken at its word.
  if (match[1] !== undefined && /^show/i.test(request) && looksLikeFile(asPath(match[1]).slice(1)))
    return undefined;
  return { kind: "list", path: match[1] === undefined ? "/" : asPath(match[1]) };
};

const read: Rule = (request) => {
  const match =
    /^(?:read|show|open|cat|print|display)\s+(?:me\s+)?(?:the\s+)?(?:contents?\s+of\s+)?(?:the\s+)?(file\s+)?(\S+)$/i.exec(
      request
    );
  if (match?.[2] === undefined || (match[1] === undefined && !looksLikeFile(match[2]))) return undefined;
  return { kind: "read", path: asPath(match[2]) };
};

const RULES: readonly Rule[] = [
  help,
  greeting,
  thanks,
  identity,
  fail,
  think,
  run,
  write,
  replace,
  remove,
  find,
  list,
  read,
  search,
  story
];

/** Reads what the person wants out of one sentence. Never throws; what it does not know is `other`. */
export function parseIntent(text: string): Intent {
  const request = text
    .trim()
    .replace(/^(?:please|can you|could you|now)[\s,]+/i, "")
    .replace(/[\s,]+please[.!?]?$/i, "");
  if (request === "" || request.length > MAXIMUM_REQUEST) return { kind: "other" };
  // A question mark or full stop ends a sentence, but may also belong to a command or to file content.
  const sentence = /^(?:write|create|make|save|add|put|run|execute|bash|sh|\$)\b/i.test(request)
    ? request
    : request.replace(/(?<=[\w/`"'*])[.?!]+$/, "");
  for (const rule of RULES) {
    const intent = rule(sentence);
    if (intent !== undefined) return intent;
  }
  return { kind: "other" };
}
