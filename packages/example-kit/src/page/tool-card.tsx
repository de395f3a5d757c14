/** A tool call as a card that unfolds: what was asked, how it stands, what came back. */
import { getToolPartState } from "@cloudflare/ai-chat/react";
import { type DynamicToolUIPart, getToolName, type ToolUIPart } from "ai";
import { Icon, type IconName } from "./icons";
import { ScrollArea } from "./scroll-area";
import { failingExitCode, headline, inputFields, outputText, refusal } from "./tool-view";

type ToolPart = ToolUIPart | DynamicToolUIPart;
type ToolState = ReturnType<typeof getToolPartState>;

const LABELS: Readonly<Record<ToolState, string>> = {
  streaming: "Preparing",
  loading: "Running",
  "waiting-approval": "Needs approval",
  approved: "Approved",
  complete: "Done",
  error: "Failed",
  denied: "Denied"
};

const ICONS: Readonly<Record<string, IconName>> = {
  read: "file",
  write: "pencil",
  edit: "pencil",
  list: "folder",
  find: "search",
  grep: "search",
  delete: "trash",
  bash: "terminal"
};

export function ToolCard({ part }: { readonly part: ToolPart }) {
  const name = getToolName(part);
  const refused = part.state === "output-available" ? refusal(part.output) : undefined;
  const exitCode = part.state === "output-available" ? failingExitCode(part.output) : undefined;
  const state = refused === undefined ? getToolPartState(part) : "error";
  const about = headline(part.input);
  return (
    <details className="tool" data-state={exitCode === undefined ? state : "exit"} data-tool={name}>
      <summary>
        <span className="tool-icon">
          <Icon name={ICONS[name] ?? "wrench"} size={16} />
        </span>
        <span className="tool-name">{name}</span>
        {about !== undefined && <span className="tool-about">{about}</span>}
        <span className="tool-state">{exitCode === undefined ? LABELS[state] : `Exit ${exitCode}`}</span>
        <Icon name="chevron" size={14} />
      </summary>
      <div className="tool-body">
        <Fields input={part.input} />
        <Result part={part} refused={refused} />
      </div>
    </details>
  );
}

function Fields({ input }: { readonly input: unknown }) {
  const fields = inputFields(input);
  if (fields.length === 0) return null;
  return (
    <dl className="tool-input">
      {fields.map(({ label, text }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}

function Result({ part, refused }: { readonly part: ToolPart; readonly refused: string | undefined }) {
  const problem = part.state === "output-error" ? part.errorText : refused;
  if (problem !== undefined) return <p className="tool-error">{problem}</p>;
  if (part.state !== "output-available") return null;
  return (
    <ScrollArea className="tool-output" label="Result">
      <pre>{outputText(part.output)}</pre>
    </ScrollArea>
  );
}
