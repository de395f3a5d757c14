/** Puts tool calls into words and plain text for the tool card. Pure. */

/** Longest output shown in a card (characters). */
const MAXIMUM_OUTPUT = 20_000;

/** Inputs worth showing in the card's one line, in order of preference. */
const HEADLINE_KEYS = ["path", "pattern", "query", "script", "command", "url"] as const;

/** The one piece of the input that says what the call is about, such as a path. Undefined when there is none. */
export function headline(input: unknown): string | undefined {
  if (!isRecord(input)) return undefined;
  for (const key of HEADLINE_KEYS) {
    const value = input[key];
    if (typeof value === "string" && value !== "") return value.split("\n", 1)[0];
  }
  return undefined;
}

/** Input fields as label and text. A value that is no object becomes one unnamed field. */
export function inputFields(input: unknown): readonly { readonly label: string; readonly text: string }[] {
  if (!isRecord(input)) return input === undefined ? [] : [{ label: "input", text: asText(input) }];
  return Object.entries(input).map(([label, value]) => ({ label, text: clip(asText(value)) }));
}

/** A tool that answers `{ error }` has refused politely; the card shows that like any other error. */
export function refusal(output: unknown): string | undefined {
  return isRecord(output) && typeof output.error === "string" ? output.error : undefined;
}

/** The exit code of a script that did not end well. A failing script is a result, but not one to call done. */
export function failingExitCode(output: unknown): number | undefined {
  if (!isRecord(output) || typeof output.exitCode !== "number") return undefined;
  return output.exitCode === 0 ? undefined : output.exitCode;
}

/** The output as text: file content, shell output and lists as they are, everything else as JSON. */
export function outputText(output: unknown): string {
  return clip(plainText(output));
}

function plainText(output: unknown): string {
  if (!isRecord(output)) return asText(output);
  if (typeof output.content === "string") return output.content;
  if (typeof output.stdout === "string") return shellText(output);
  for (const key of ["entries", "files", "matches"]) {
    const list = output[key];
    if (Array.isArray(list) && list.length > 0 && list.every((item) => typeof item === "string"))
      return list.join("\n");
  }
  return asText(output);
}

function shellText(output: Readonly<Record<string, unknown>>): string {
  const printed = [output.stdout, output.stderr]
    .filter((stream): stream is string => typeof stream === "string" && stream !== "")
    .map((stream) => stream.replace(/\n$/, ""));
  return [...printed, `exit code ${String(output.exitCode)}`].join("\n");
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
}

function clip(text: string): string {
  if (text.length <= MAXIMUM_OUTPUT) return text;
  return `${text.slice(0, MAXIMUM_OUTPUT)}\n… ${text.length - MAXIMUM_OUTPUT} more characters`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
