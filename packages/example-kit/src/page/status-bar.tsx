/** One quiet word about the connection and the turn. */
import type { Activity } from "./use-conversation";

const LABELS: Readonly<Record<Activity, string>> = {
  connecting: "Connecting",
  reconnecting: "Reconnecting",
  recovering: "Recovering",
  waiting: "Sending",
  answering: "Answering",
  idle: "Connected"
};

export function StatusBar({ activity }: { readonly activity: Activity }) {
  return (
    <p className="status" data-activity={activity}>
      <span className="status-dot" />
      <span className="status-label">{LABELS[activity]}</span>
    </p>
  );
}
