/** Escape stops the running answer from anywhere on the page, except where it closes a dialog. */
import { useEffect } from "react";

export function useStopOnEscape(busy: boolean, stop: () => void): void {
  useEffect(() => {
    if (!busy) return undefined;
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return;
      if (document.querySelector("dialog[open]") === null) stop();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [busy, stop]);
}
