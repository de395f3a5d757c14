/**
 * The tests of the workspace, bash, fetch and think tools once more, in the runtime they are for: the shell, URLs, text decoding, streams and
 * timers of workerd are not those of Node. Left out: `bash-shell` and `guard-code`, which replace modules or make code from text, and
 * `thought-log`, whose SQLite is Node's (`tools-think.test.ts` has it on a Durable Object's).
 */
import "../src/tools/fetch/address.test";
import "../src/tools/fetch/allow-list.test";
import "../src/tools/fetch/create-fetch-tool.test";
import "../src/tools/fetch/html-to-markdown.test";
import "../src/tools/sandbox/sandbox-tools.test";
import "../src/tools/think/think-tool.test";
import "../src/tools/workspace/bad-input.test";
import "../src/tools/workspace/bash-surprises.test";
import "../src/tools/workspace/bash-write-back.test";
import "../src/tools/workspace/bash.test";
import "../src/tools/workspace/file-facts.test";
import "../src/tools/workspace/file-tools.test";
import "../src/tools/workspace/regex/line-regex.test";
import "../src/workspace/glob.test";
