/** A researcher at work, inside the lead's message: topic, state, steps, and the words as they come. */
import { Icon, type IconName, Markdown, ScrollArea } from "@cloudflare/think-example-kit/page";
import {
  keptAnswer,
  phaseOf,
  type Run,
  type RunPhase,
  spokenIn,
  type Step,
  stepsOf,
  titled,
  type ToolPart,
  topicOf
} from "./runs";

const LABELS: Readonly<Record<RunPhase, string>> = {
  starting: "Starting",
  running: "Researching",
  completed: "Done",
  aborted: "Stopped",
  error: "Failed",
  interrupted: "Interrupted",
  removed: "Removed"
};

const STEP_ICONS: Readonly<Record<string, IconName>> = { find: "search", read: "file", write: "pencil" };

interface RunCardProperties {
  readonly part: ToolPart;
  readonly run: Run | undefined;
  /** True while the panel shows this run. */
  readonly open: boolean;
  readonly onOpen: (run: Run, topic: string) => void;
  readonly onStop: (run: Run) => void;
}

export function RunCard({ part, run, open, onOpen, onStop }: RunCardProperties) {
  const topic = topicOf(part);
  const phase = phaseOf(part, run);
  return (
    <section className="run-card" data-phase={phase} data-open={open} aria-label={`Researcher: ${topic}`}>
      <header>
        <span className="run-mark" aria-hidden="true">
          {topic.charAt(0).toUpperCase()}
        </span>
        <h3>{titled(topic)}</h3>
        <span className="run-phase">{LABELS[phase]}</span>
      </header>
      <Steps steps={stepsOf(run)} />
      <Words part={part} run={run} phase={phase} />
      <footer>
        {run === undefined ? (
          <span className="run-note">{phase === "removed" ? "The run was cleaned up." : "On the way…"}</span>
        ) : (
          <>
            <button
              type="button"
              className="button button-small"
              aria-pressed={open}
              onClick={() => onOpen(run, topic)}
            >
              Look in
              <Icon name="chevron" size={14} />
            </button>
            {phase === "running" && (
              <button type="button" className="button button-small" onClick={() => onStop(run)}>
                Stop this one
              </button>
            )}
          </>
        )}
      </footer>
    </section>
  );
}

function Steps({ steps }: { readonly steps: readonly Step[] }) {
  if (steps.length === 0) return null;
  return (
    <ol className="run-steps" aria-label="Steps">
      {steps.map((step) => (
        <li key={step.id} data-done={step.done}>
          <Icon name={step.done ? "check" : (STEP_ICONS[step.tool] ?? "wrench")} size={13} />
          {step.tool}
        </li>
      ))}
    </ol>
  );
}

interface WordsProperties {
  readonly part: ToolPart;
  readonly run: Run | undefined;
  readonly phase: RunPhase;
}

/** While it works: the newest words. Afterwards: the answer, or why there is none. */
function Words({ part, run, phase }: WordsProperties) {
  if (phase === "error" || phase === "interrupted")
    return <p className="run-problem">{run?.error ?? "No reason was given."}</p>;
  const answer = phase === "completed" ? keptAnswer(part) || (run?.summary ?? "") : keptAnswer(part);
  const live = phase === "running";
  const text = answer === "" || live ? spokenIn(run) : answer;
  const words =
    text === "" ? <p className="run-note">No words yet.</p> : <Markdown text={text} live={live} />;
  return live || phase === "starting" ? (
    <div className="run-words" data-live="true">
      {/* One child, so that the reversed column keeps its end in sight. */}
      <div>{words}</div>
    </div>
  ) : (
    <ScrollArea className="run-words">{words}</ScrollArea>
  );
}
