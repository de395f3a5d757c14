/** The fixed things the offline model says. Owned by the planner; plain Markdown. */
export { STORY } from "./story";

const HOW_TO_CONNECT =
  "To talk to a real model, copy `.dev.vars.example` to `.dev.vars`, fill in an OpenAI-compatible address " +
  "(Ollama works), and start again. The README shows that and Workers AI.";

const EXAMPLES = [
  "| Say | and I will |",
  "| --- | --- |",
  "| `list files` | look around the workspace |",
  "| `write a file hello.txt with Hello, world` | save a file; add `and read it back` to see it |",
  "| `read /hello.txt` | show a file |",
  "| `replace world with moon in /hello.txt` | edit it |",
  "| `find *.txt` or `search for moon` | find files, or text in files |",
  "| `run echo hi \\| wc -c` | run a shell line |",
  "| `delete /hello.txt` | clean up |",
  "| `tell me a long story` | stream for a while: reload the page, I carry on |",
  "| `think about tides` | show my reasoning first |",
  "| `fail` | show what an error looks like |"
].join("\n");

export const HELP = `I am the **offline model**: a small rule-based stand-in that ships with this example. I know only a few requests, but the tools I use are real.\n\n${EXAMPLES}\n\n${HOW_TO_CONNECT}`;

export const GREETING =
  "Hello! I am the **offline model** of this example: no key, no network, a handful of tricks. " +
  "Try **list files**, **write a file hello.txt with Hello, world and read it back**, or **tell me a long story**. " +
  "**help** shows the rest.";

export const THANKS = "You are welcome! Ask for something else, or say **help** to see what I know.";

export const IDENTITY =
  "I am the **offline model** of this example: a few rules, not a language model. I read simple requests and use real tools " +
  `on the files of this chat; **help** lists them.\n\n${HOW_TO_CONNECT}`;

export const FAILURE = {
  before: "All right, I will run into an error on purpose, so that you can see how the page takes it.",
  message: "The offline model failed on purpose. Nothing is broken: press retry, or ask for something else."
} as const;

/** The answer to anything the parser does not know: honest about the limits, with a way forward. */
export function fallback(request: string): string {
  const words = request.replace(/\s+/g, " ").trim();
  const heard = words === "" ? "" : `I read “${words.length > 80 ? `${words.slice(0, 80)}…` : words}”, but `;
  return (
    `${heard}I am only the **offline model**: a few rules that ship with this example, not a language model. ` +
    "I cannot answer freely, but I can really use the tools:\n\n" +
    "- **list files**, **read /path**, **find \\*.md**, **search for a word**\n" +
    "- **write a file notes.txt with …**, **replace A with B in /notes.txt**, **delete /notes.txt**\n" +
    "- **run ls -la**, **tell me a long story**, **think about …**, **help**\n\n" +
    HOW_TO_CONNECT
  );
}

export interface Thought {
  readonly reasoning: string;
  readonly answer: string;
}

/** A canned, honest walk through a question: it shows the reasoning display, not insight. */
export function thinkAbout(topic: string): Thought {
  return {
    reasoning:
      `The request is to think about ${topic}. First: what do I actually know? I am a set of rules, so I hold no facts about it. ` +
      "Second: what would help anyway? A way to take the question apart that works for any subject. " +
      "Third: be plain about which part is a method and which part would be knowledge. I will give the method and leave the knowledge to a real model.",
    answer:
      `I have no knowledge of **${topic}** to offer, but here is how I would take it apart:\n\n` +
      "1. **Say what would count as an answer.** A number, a decision, an explanation?\n" +
      "2. **List what is already known**, and mark what is only assumed.\n" +
      "3. **Find the cheapest test** that could prove the favourite assumption wrong.\n" +
      "4. **Decide, and note why**, so that it can be undone.\n\n" +
      "What you saw folded above this answer is my reasoning, streamed as a part of its own."
  };
}
