/**
 * Where the person writes. Enter sends, Shift+Enter makes a new line, Escape stops (handled page-wide). While
 * an answer runs the button stops it; a draft is kept until it can be sent.
 */
import { type KeyboardEvent, type Ref, useEffect, useImperativeHandle, useRef, useState } from "react";
import { Icon } from "./icons";

export interface ComposerHandle {
  readonly focus: () => void;
}

interface ComposerProperties {
  readonly ref: Ref<ComposerHandle>;
  readonly busy: boolean;
  readonly onSend: (text: string) => void;
  readonly onStop: () => void;
}

export function Composer({ ref, busy, onSend, onStop }: ComposerProperties) {
  const [draft, setDraft] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  useImperativeHandle(ref, () => ({ focus: () => field.current?.focus() }));

  useEffect(() => {
    // On a touch screen focus would open the keyboard over the suggestions.
    if (matchMedia("(pointer: fine)").matches) field.current?.focus();
  }, []);

  const sendable = !busy && draft.trim() !== "";
  const send = (): void => {
    if (!sendable) return;
    setDraft("");
    onSend(draft.trim());
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    // While an input method composes, Enter chooses a word.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };

  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div className="composer-box">
        {/* The hidden twin gives the grid cell the height of the text; the field fills the cell. */}
        <div className="composer-grow" data-value={draft}>
          <textarea
            ref={field}
            rows={1}
            value={draft}
            placeholder="Ask for something…"
            aria-label="Message"
            aria-describedby="composer-hint"
            enterKeyHint="send"
            maxLength={100_000}
            onChange={(event) => setDraft(event.target.value)}
            onKeyDown={onKeyDown}
          />
        </div>
        {busy ? (
          <button type="button" className="button-send" aria-label="Stop" onClick={onStop}>
            <Icon name="stop" size={20} />
          </button>
        ) : (
          <button type="submit" className="button-send" aria-label="Send" disabled={!sendable}>
            <Icon name="arrowUp" size={20} />
          </button>
        )}
      </div>
      <p className="composer-hint" id="composer-hint">
        <kbd>Enter</kbd> sends, <kbd>Shift</kbd> <kbd>Enter</kbd> for a new line, <kbd>Esc</kbd> stops
      </p>
    </form>
  );
}
