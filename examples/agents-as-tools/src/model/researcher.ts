/**
 * A researcher without a network: looks its topic up in the library, reads, thinks aloud, writes a note, and sums up. Each step is a real
 * tool call on the lead's files. A question of a person who looks in is answered from the note.
 */
import {
  createPlannedModel,
  type LanguageModelV3,
  type Pace,
  type Plan,
  type PlannedModelOptions,
  type Situation,
  type ToolResult,
  type Utterance
} from "@cloudflare/think-example-kit/model";
import { fileName, titled, topicsIn } from "./topics";

export function createResearcherModel(options: PlannedModelOptions = {}): LanguageModelV3 {
  return createPlannedModel(planResearcher, options);
}

export function planResearcher(situation: Situation): Plan {
  const task = /^Research: (.+)$/s.exec(situation.request)?.[1];
  return task === undefined ? planQuestion(situation) : planTask(task.trim(), situation.results);
}

function planTask(topic: string, results: readonly ToolResult[]): Plan {
  const [searched, read, written] = results;
  if (searched === undefined) {
    return [
      say(`I look for **${topic}** in the library.`, "brisk"),
      call("find", { pattern: `/library/*${fileName(topic).replace(/s$/, "")}*.md` })
    ];
  }
  const path = firstPath(searched.output);
  if (path === undefined)
    return [
      say(`The library has nothing on **${topic}**. I would rather say so than make something up.`, "brisk")
    ];
  if (read === undefined) return [say(`There is a text: \`${path}\`.`, "brisk"), call("read", { path })];
  const paragraphs = paragraphsOf(read.output);
  if (written === undefined) {
    const note = `# ${titled(topic)}\n\n${paragraphs.map((paragraph) => `- ${firstSentence(paragraph)}`).join("\n")}\n`;
    return [
      say(`What I read, in my own order:\n\n${paragraphs.join("\n\n")}`, "steady"),
      call("write", { path: `/notes/${fileName(topic)}.md`, content: note })
    ];
  }
  return [say(paragraphs.map((paragraph) => `- ${firstSentence(paragraph)}`).join("\n"), "brisk")];
}

/** A person has looked in and asks. */
function planQuestion({ request, results }: Situation): Plan {
  const [found, note] = results;
  const [topic] = topicsIn(request);
  if (found === undefined)
    return [
      say("I look at the notes.", "brisk"),
      call("find", { pattern: topic ? `/notes/*${fileName(topic)}*.md` : "/notes/*.md" })
    ];
  const path = firstPath(found.output);
  if (path === undefined) return [say("There are no notes yet.", "brisk")];
  if (note === undefined) return [call("read", { path })];
  return [
    say(
      `My note in \`${path}\` says:\n\n${linesOf(note.output)
        .filter((line) => line.startsWith("- "))
        .join("\n")}`,
      "brisk"
    )
  ];
}

function firstPath(output: unknown): string | undefined {
  return /\/(?:library|notes)\/[\w-]+\.md/.exec(JSON.stringify(output))?.[0];
}

/** The lines of a file as the `read` tool shows them, without their numbers. */
function linesOf(output: unknown): readonly string[] {
  const content =
    typeof output === "object" && output !== null && "content" in output ? output.content : output;
  return String(content)
    .split("\n")
    .map((line) => line.replace(/^\s*\d+\t/, ""));
}

function paragraphsOf(output: unknown): readonly string[] {
  return linesOf(output).filter((line) => line.trim() !== "" && !line.startsWith("#"));
}

function firstSentence(paragraph: string): string {
  return /^.*?[.!?](?=\s|$)/.exec(paragraph)?.[0] ?? paragraph;
}

function say(text: string, pace: Pace): Utterance {
  return { type: "text", text, pace };
}

function call(toolName: string, input: Readonly<Record<string, unknown>>): Utterance {
  return { type: "tool-call", call: { toolName, input } };
}
