/**
 * The lead without a network: finds the topics in a request, sends one researcher for each in a single step, and puts their answers
 * together. The words are fixed; the delegation is real.
 */
import {
  createPlannedModel,
  type LanguageModelV3,
  type Plan,
  type PlannedModelOptions,
  type Situation,
  type ToolResult,
  type Utterance
} from "@cloudflare/think-example-kit/model";
import { TOPICS } from "../library";
import { RESEARCH_TOOL } from "../shared/run-names";
import { titled, topicsIn } from "./topics";

export function createLeadModel(options: PlannedModelOptions = {}): LanguageModelV3 {
  return createPlannedModel(planLead, options);
}

export function planLead({ request, results }: Situation): Plan {
  const topics = topicsIn(request);
  if (topics.length === 0) return [say(HELP)];
  const reports = results.filter((result) => result.toolName === RESEARCH_TOOL);
  if (reports.length === 0) return [say(announce(topics)), ...topics.map(send)];
  return [say(reports.map((report, index) => section(topics[index] ?? "", report)).join("\n\n"))];
}

const HELP =
  "I lead a small team of researchers. Name one or two topics and I send a researcher for each, both at once. " +
  `The library knows ${TOPICS.slice(0, -1)
    .map((topic) => `**${topic}**`)
    .join(", ")} and **${TOPICS.at(-1)}**. ` +
  "Try **research tides and lighthouses**.";

function announce(topics: readonly string[]): string {
  const names = topics.map((topic) => `**${topic}**`).join(" and one for ");
  return topics.length === 1
    ? `I send a researcher for ${names}.`
    : `I send two researchers at once: one for ${names}.`;
}

function send(topic: string): Utterance {
  return { type: "tool-call", call: { toolName: RESEARCH_TOOL, input: { topic } } };
}

function section(topic: string, { output, failed }: ToolResult): string {
  if (typeof output === "string" && !failed) return `## ${titled(topic)}\n\n${output}`;
  return `## ${titled(topic)}\n\n*No answer: ${reasonOf(output)}*`;
}

function reasonOf(output: unknown): string {
  if (typeof output === "object" && output !== null && "status" in output && output.status === "aborted")
    return "the researcher was stopped.";
  if (typeof output === "object" && output !== null && "error" in output) return String(output.error);
  return typeof output === "string" ? output : "the researcher could not finish.";
}

function say(text: string): Utterance {
  return { type: "text", text, pace: "brisk" };
}
