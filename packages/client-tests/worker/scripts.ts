/**
 * What the scripted model says: the text of the last user message picks the script, the prompt picks the step in it.
 * Pure but for the gates, so every run and both clients see the same stream.
 */
import {
  reasoning,
  streamError,
  streamPart,
  text,
  toolCall,
  type Gate,
  type ScriptAnswer,
  type ScriptedCall,
  type ScriptPart
} from "@cloudflare/think/testing";

type GateOf = (label: string) => Gate;

/** One script: the answer to the user, then the answers after each round of tool results. */
type Steps = (call: ScriptedCall, gateOf: GateOf) => readonly ScriptAnswer[];

const scripts: Readonly<Record<string, Steps>> = {
  hello: () => ["Hello there, nice to meet you."],
  number: ({ index }) => [`Answer number ${index}.`],
  weather: () => [
    [
      reasoning("I need to look outside."),
      text("Looking."),
      toolCall("weather", { city: "Paris" }, { deltaSize: 4 })
    ],
    "It is sunny in Paris."
  ],
  locate: () => [[text("Where?"), toolCall("locate", { precise: true })], "You are in Lisbon."],
  "locate slowly": (_call, gateOf) => [
    toolCall("locate", { precise: true }),
    held("You are ", gateOf("locate"), "in Lisbon.")
  ],
  delete: (call) => [
    [text("Shall I?"), toolCall("deleteFile", { path: "/a.txt" })],
    outcome(call).includes("deletions") ? "It is gone." : "I left it alone."
  ],
  story: (_call, gateOf) => [held("Once upon a time ", gateOf("story"), "there was a lighthouse.")],
  expedition: (_call, gateOf) => [
    [reasoning("A long way."), text("Packing."), toolCall("weather", { city: "Oslo" }, { deltaSize: 4 })],
    [reasoning("Sunny."), ...held("We walk ", gateOf("expedition"), "and we arrive.")]
  ],
  break: () => [[text("So far so "), streamError("The provider is gone.")]],
  "break slowly": (_call, gateOf) => [
    [...held("So far so ", gateOf("break"), "good, but"), streamError("The provider is gone.")]
  ]
};

/** The answer to one model call. */
export function answer(call: ScriptedCall, gateOf: GateOf): ScriptAnswer {
  const script = scripts[call.userText];
  if (script === undefined)
    throw new Error(`There is no script for "${call.userText}". Add it to scripts.ts.`);
  const step = script(call, gateOf)[toolRounds(call)];
  if (step === undefined)
    throw new Error(`The script "${call.userText}" is over, but the model was asked again.`);
  return step;
}

/** One text part that pauses in the middle: the tests look at the world there. */
function held(before: string, pause: Gate, after: string): readonly ScriptPart[] {
  const id = "held";
  const deltas = (content: string) =>
    content.split(/(?<= )/u).map((delta) => streamPart({ type: "text-delta", id, delta }));
  return [
    streamPart({ type: "text-start", id }),
    ...deltas(before),
    pause,
    ...deltas(after),
    streamPart({ type: "text-end", id })
  ];
}

/** How many times tools have answered since the user last spoke. */
function toolRounds({ prompt }: ScriptedCall): number {
  const asked = prompt.findLastIndex((message) => message.role === "user");
  return prompt.slice(asked + 1).filter((message) => message.role === "tool").length;
}

/** What the last tool round said, as JSON text. */
function outcome({ prompt }: ScriptedCall): string {
  const last = prompt.at(-1);
  return last?.role === "tool" ? JSON.stringify(last.content) : "";
}
