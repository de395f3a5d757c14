/** Name, status, and what concerns all runs. */
import {
  type Activity,
  Dialog,
  type DialogHandle,
  Icon,
  Logo,
  StatusBar,
  ThemeSwitch
} from "@cloudflare/think-example-kit/page";
import { useRef } from "react";
import type { Run } from "./runs";

interface DeskHeaderProperties {
  readonly activity: Activity;
  readonly runs: readonly Run[];
  readonly onCleanUp: () => void;
  readonly onNewChat: () => void;
}

export function DeskHeader({ activity, runs, onCleanUp, onNewChat }: DeskHeaderProperties) {
  const confirmation = useRef<DialogHandle>(null);
  const running = runs.filter((run) => run.status === "running").length;
  return (
    <header className="chat-header">
      <Logo size={26} />
      <h1>Research desk</h1>
      <StatusBar activity={activity} />
      <div className="desk-theme">
        <ThemeSwitch />
      </div>
      <button
        type="button"
        className="button button-small"
        disabled={runs.length === 0}
        onClick={() => confirmation.current?.open()}
      >
        <Icon name="trash" size={16} />
        <span className="desk-clean-label">Clean up</span>
        <span className="desk-count">{runs.length}</span>
      </button>
      <button
        type="button"
        className="button-icon"
        aria-label="New desk"
        title="New desk"
        onClick={onNewChat}
      >
        <Icon name="plus" />
      </button>
      <Dialog ref={confirmation} label="Clean up?" className="dialog-small">
        <h2>Remove {runs.length === 1 ? "this run" : `these ${runs.length} runs`}?</h2>
        <p>
          The researchers and their conversations go; the lead's answers stay.
          {running > 0 && " Those that are still at work are stopped."}
        </p>
        <div className="dialog-actions">
          <button type="button" className="button" onClick={() => confirmation.current?.close()}>
            Keep
          </button>
          <button
            type="button"
            className="button button-danger"
            onClick={() => {
              confirmation.current?.close();
              onCleanUp();
            }}
          >
            Remove
          </button>
        </div>
      </Dialog>
    </header>
  );
}
