/** Reads topics out of a request. Pure; used by both models. */
import { TOPICS } from "../library";

/** Most researchers at once: the page shows two side by side. */
const MOST_TOPICS = 2;

const REQUEST = /\b(?:research|compare|find out about|look up|about)\s+(.+)/is;
const JOINT = /\s+(?:and|with|to|or|versus|vs\.?)\s+|,\s*/i;

/** The topics a person asks about, in their order: what stands behind the verb, or else known ones wherever they stand. */
export function topicsIn(request: string): readonly string[] {
  const asked = (REQUEST.exec(request)?.[1] ?? "")
    .split(JOINT)
    .map((words) => words.replace(/[.?!]+\s*$/, "").trim())
    .filter((words) => words.length >= 2 && words.length <= 80)
    .map((words) => knownTopics(words)[0] ?? words);
  const topics = asked.length > 0 ? asked : knownTopics(request);
  return [...new Set(topics)].slice(0, MOST_TOPICS);
}

function knownTopics(text: string): readonly string[] {
  const place = (topic: string) => text.toLowerCase().indexOf(topic.replace(/s$/, ""));
  return TOPICS.filter((topic) => place(topic) >= 0).toSorted((left, right) => place(left) - place(right));
}

/** `northern lights` becomes `northern-lights`. */
export function fileName(topic: string): string {
  return topic
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}

/** With a capital letter. */
export function titled(topic: string): string {
  return topic.charAt(0).toUpperCase() + topic.slice(1);
}
