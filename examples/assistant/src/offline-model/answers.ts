/**
 * Puts a tool result into words. Called by the planner after the last tool of a request has answered.
 *
 * Invariant: a result of an unknown shape is shown as it is; nothing about it is guessed.
 */
import { z } from "zod";
import { count, fence } from "./phrases";
import type { ToolCall, ToolResult } from "@cloudflare/think-example-kit/model";
import type { Intent } from "./types";

/** Longest piece of tool output quoted in an answer (characters); the tool card shows the rest. */
const MAXIMUM_QUOTE = 4_000;

const failure = z.object({ error: z.string() });
const listing = z.object({ path: z.string(), entries: z.array(z.string()) });
const written = z.object({ path: z.string(), bytesWritten: z.number(), lines: z.number() });
const readText = z.object({ content: z.string() });
const edited = z.object({ path: z.string(), fuzzyMatch: z.boolean().optional() });
const found = z.object({ count: z.number(), files: z.array(z.string()) });
const searched = z.object({
  totalMatches: z.number(),
  filesWithMatches: z.number(),
  filesSearched: z.number(),
  matches: z.array(
    z.union([z.string(), z.object({ file: z.string(), line: z.number(), context: z.string() })])
  )
});
const shell = z.object({
  stdout: z.string(),
  stderr: z.string(),
  exitCode: z.number(),
  changedFiles: z
    .object({ created: z.array(z.string()), updated: z.array(z.string()), deleted: z.array(z.string()) })
    .optional()
});
const deleted = z.object({ deleted: z.string() });

export function describeResult(input: ToolCall["input"], result: ToolResult, intent: Intent): string {
  if (result.failed) return `That did not work: ${asText(result.output)}`;
  const refused = failure.safeParse(result.output);
  if (refused.success) return `That did not work: ${refused.data.error}`;
  switch (result.toolName) {
    case "list":
      return read(listing, result.output, describeListing);
    case "write":
      return read(
        written,
        result.output,
        ({ path, bytesWritten, lines }) =>
          `Saved \`${path}\`: ${count(lines, "line")}, ${count(bytesWritten, "byte")}. Try **read ${path}** to see it.`
      );
    case "read":
      return describeFile(String(input.path), result.output, intent);
    case "edit":
      return read(
        edited,
        result.output,
        ({ path, fuzzyMatch }) =>
          `Changed \`${path}\`${fuzzyMatch === true ? " (I had to ignore differences in spacing to find the place)" : ""}.`
      );
    case "find":
      return read(found, result.output, describeFound);
    case "grep":
      return read(searched, result.output, describeSearch);
    case "bash":
      return read(shell, result.output, describeShell);
    case "delete":
      return read(deleted, result.output, ({ deleted: path }) => `\`${path}\` is gone.`);
    default:
      return `The tool answered:\n\n${fence(clip(asText(result.output)), "json")}`;
  }
}

function read<Shape>(schema: z.ZodType<Shape>, output: unknown, describe: (value: Shape) => string): string {
  const parsed = schema.safeParse(output);
  return parsed.success ? describe(parsed.data) : `Done:\n\n${fence(clip(asText(output)))}`;
}

function describeListing({ path, entries }: z.infer<typeof listing>): string {
  if (entries.length === 0) {
    return `\`${path}\` is empty. Try **write a file hello.txt with Hello, world** to put something there.`;
  }
  return `There ${entries.length === 1 ? "is" : "are"} ${count(entries.length, "entry", "entries")} in \`${path}\`:\n\n${bullets(entries)}`;
}

function describeFile(path: string, output: unknown, intent: Intent): string {
  // `read` hands text to the model directly and the object form to everyone else.
  const object = readText.safeParse(output);
  const content = object.success ? object.data.content : asText(output);
  const lines = content.split("\n").map((line) => line.replace(/^\d+\t/, ""));
  const intro =
    intent.kind === "write"
      ? `Done. \`${path}\` now has ${count(lines.length, "line")}:`
      : `\`${path}\` has ${count(lines.length, "line")}:`;
  return `${intro}\n\n${fence(clip(lines.join("\n")), languageOf(path))}`;
}

function describeFound({ count: total, files }: z.infer<typeof found>): string {
  if (files.length === 0) return "No file matches that.";
  return `${count(total, "match", "matches")}:\n\n${bullets(files)}`;
}

function describeSearch(result: z.infer<typeof searched>): string {
  if (result.matches.length === 0) return `Nothing found in ${count(result.filesSearched, "file")}.`;
  const shown = result.matches.slice(0, 20).map((match) => {
    if (typeof match !== "string") return `- \`${match.file}:${match.line}\``;
    const parts = /^(.*?:\d+):\s?(.*)$/s.exec(match);
    return parts === null ? `- ${match}` : `- \`${parts[1]}\` ${parts[2]}`;
  });
  return `${count(result.totalMatches, "match", "matches")} in ${count(result.filesWithMatches, "file")}:\n\n${shown.join("\n")}`;
}

function describeShell({ stdout, stderr, exitCode, changedFiles }: z.infer<typeof shell>): string {
  const output = clip((stdout + (stderr === "" ? "" : `\n${stderr}`)).trim());
  const verdict = exitCode === 0 ? "It ran fine" : `It ended with exit code ${exitCode}`;
  const said = output === "" ? `${verdict} and printed nothing.` : `${verdict}:\n\n${fence(output)}`;
  const changed = [
    ...(changedFiles?.created ?? []).map((path) => `created \`${path}\``),
    ...(changedFiles?.updated ?? []).map((path) => `changed \`${path}\``),
    ...(changedFiles?.deleted ?? []).map((path) => `deleted \`${path}\``)
  ];
  return changed.length === 0 ? said : `${said}\n\nFiles: ${changed.slice(0, 10).join(", ")}.`;
}

function bullets(items: readonly string[]): string {
  const shown = items.slice(0, 50).map((item) => {
    const parts = /^(.*?)( \(.*\))?$/s.exec(item);
    return `- \`${parts?.[1] ?? item}\`${parts?.[2] ?? ""}`;
  });
  return items.length > shown.length
    ? `${shown.join("\n")}\n- and ${items.length - shown.length} more`
    : shown.join("\n");
}

function languageOf(path: string): string {
  return /\.([a-z0-9]{1,8})$/i.exec(path)?.[1]?.toLowerCase() ?? "";
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

function clip(text: string): string {
  return text.length <= MAXIMUM_QUOTE
    ? text
    : `${text.slice(0, MAXIMUM_QUOTE)}\n… (${text.length - MAXIMUM_QUOTE} more characters)`;
}
