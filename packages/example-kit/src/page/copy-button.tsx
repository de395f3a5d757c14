/** Copies text and says so for a moment. */
import { useEffect, useState } from "react";
import { Icon } from "./icons";

/** How long the confirmation stays (milliseconds). */
const CONFIRMATION = 1_600;

type Outcome = "none" | "copied" | "refused";

export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [outcome, setOutcome] = useState<Outcome>("none");
  useEffect(() => {
    if (outcome === "none") return undefined;
    const timer = setTimeout(() => setOutcome("none"), CONFIRMATION);
    return () => clearTimeout(timer);
  }, [outcome]);

  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setOutcome("copied");
    } catch {
      // No permission, or not a secure context: the text can still be selected by hand.
      setOutcome("refused");
    }
  };
  const name = { none: label, copied: "Copied", refused: "The browser did not allow copying" }[outcome];
  return (
    <button
      type="button"
      className="button-icon button-small"
      aria-label={name}
      title={name}
      onClick={() => void copy()}
    >
      <Icon name={outcome === "copied" ? "check" : "copy"} size={16} />
    </button>
  );
}
