import { describe, expect, it } from "vitest";
import { parseIntent } from "./intent";
import type { Intent } from "./types";

const understood: readonly (readonly [string, Intent])[] = [
  ["list files", { kind: "list", path: "/" }],
  ["List the files in /notes", { kind: "list", path: "/notes" }],
  ["ls", { kind: "list", path: "/" }],
  ["what files are there?", { kind: "list", path: "/" }],
  ["what's in /src?", { kind: "list", path: "/src" }],
  ["what files do I have?", { kind: "list", path: "/" }],
  ["show me my files", { kind: "list", path: "/" }],
  ["read /hello.txt", { kind: "read", path: "/hello.txt" }],
  ["Please show notes/today.md.", { kind: "read", path: "/notes/today.md" }],
  ["show /hello.txt", { kind: "read", path: "/hello.txt" }],
  ["cat `a.txt`", { kind: "read", path: "/a.txt" }],
  [
    "write a file hello.txt with Hello, world",
    { kind: "write", path: "/hello.txt", content: "Hello, world", readBack: false }
  ],
  [
    "Write a file hello.txt with Hello, world!",
    { kind: "write", path: "/hello.txt", content: "Hello, world!", readBack: false }
  ],
  [
    'create /notes/a.md containing "# Title" and then read it back',
    { kind: "write", path: "/notes/a.md", content: "# Title", readBack: true }
  ],
  [
    "write a file called todo.md with:\n- milk\n- tea",
    { kind: "write", path: "/todo.md", content: "- milk\n- tea", readBack: false }
  ],
  [
    "save code.js with ```js\nlet a = 1;\n```",
    { kind: "write", path: "/code.js", content: "let a = 1;", readBack: false }
  ],
  [
    "write good morning to greet.txt",
    { kind: "write", path: "/greet.txt", content: "good morning", readBack: false }
  ],
  [
    "replace world with moon in /hello.txt",
    { kind: "replace", path: "/hello.txt", from: "world", to: "moon" }
  ],
  ['change "a b" to "c d" in x.txt', { kind: "replace", path: "/x.txt", from: "a b", to: "c d" }],
  ["find *.md", { kind: "find", pattern: "/**/*.md" }],
  ["find all files matching src/*.ts", { kind: "find", pattern: "/src/*.ts" }],
  ["search for foo", { kind: "search", query: "foo", include: undefined }],
  ["search for 'two words' in /notes", { kind: "search", query: "two words", include: "/notes/**" }],
  ["find needle", { kind: "search", query: "needle", include: undefined }],
  ["run `ls -la`", { kind: "run", script: "ls -la" }],
  ["run echo hi | wc -c", { kind: "run", script: "echo hi | wc -c" }],
  ["$ pwd", { kind: "run", script: "pwd" }],
  ["delete /hello.txt", { kind: "delete", path: "/hello.txt", recursive: false }],
  ["remove the folder notes", { kind: "delete", path: "/notes", recursive: true }],
  ["tell me a long story", { kind: "story" }],
  ["think about the tides", { kind: "think", topic: "the tides" }],
  ["fail", { kind: "fail" }],
  ["help", { kind: "help" }],
  ["What can you do?", { kind: "help" }],
  ["Hello!", { kind: "greeting" }],
  ["thanks", { kind: "thanks" }],
  ["Thank you very much!", { kind: "thanks" }],
  ["who are you?", { kind: "identity" }],
  ["What are you?", { kind: "identity" }],
  ["what are your thoughts on tea?", { kind: "other" }],
  ["what is the capital of France?", { kind: "other" }],
  ["show me how this works", { kind: "other" }],
  ["create a poem with rhymes", { kind: "other" }],
  ["", { kind: "other" }]
];

describe("the intent parser", () => {
  it.each(understood)("reads %j", (sentence, intent) => {
    expect(parseIntent(sentence)).toEqual(intent);
  });

  it("takes a request that is too long as unknown, and answers at once", () => {
    const started = performance.now();
    expect(parseIntent(`replace ${"a with ".repeat(2_000)}`)).toEqual({ kind: "other" });
    expect(parseIntent(`replace ${" with".repeat(700)}`)).toEqual({ kind: "other" });
    // Generous: a pattern that backtracks without end takes far longer, and a busy machine is no reason to fail.
    expect(performance.now() - started).toBeLessThan(15_000);
  });
});
