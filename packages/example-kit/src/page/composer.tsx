/**
 * Where the person writes. Enter sends, Shift+Enter makes a new line, Escape stops (handled page-wide). While
 * an answer runs the button stops it; a draft is kept until it can be sent, and the hint says so.
 */
import { type KeyboardEvent, type Ref, useEffect, useId, useImperativeHandle, useRef, useState } from "react";
import { Icon } from "./icons";

export interface ComposerHandle {
  readonly focus: () => void;
}

interface ComposerProperties {
  readonly ref: Ref<ComposerHandle>;
  readonly busy: boolean;
  readonly onSend: (text: string) => void;
  readonly onStop: () => void;
  /** Default: `Ask for something…` */
  readonly placeholder?: string;
}

export function Composer({
  ref,
  busy,
  onSend,
  onStop,
  placeholder = "Ask for something…"
}: ComposerProperties) {
  const { draft, filled, held, send, change } = useDraft(busy, onSend);
  const field = useRef<HTMLTextAreaElement>(null);
  // A page may hold more than one composer.
  const hint = useId();
  useImperativeHandle(ref, () => ({ focus: () => field.current?.focus() }));

  useEffect(() => {
    // On a touch screen focus would open the keyboard over the suggestions.
    if (matchMedia("(pointer: fine)").matches) field.current?.focus();
  }, []);

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
            placeholder={placeholder}
            aria-label="Message"
            aria-describedby={hint}
            enterKeyHint="send"
            maxLength={100_000}
            onChange={(event) => change(event.target.value)}
            onKeyDown={onKeyDown}
          />
        </div>
        {busy ? (
          <button type="button" className="button-send" aria-label="Stop" onClick={onStop}>
            <Icon name="stop" size={20} />
          </button>
        ) : (
          <button type="submit" className="button-send" aria-label="Send" disabled={!filled}>
            <Icon name="arrowUp" size={20} />
          </button>
        )}
      </div>
      <Hint id={hint} busy={busy} filled={filled} held={held} />
    </form>
  );
}

interface Draft {
  readonly draft: string;
  /** Whether there is anything to send. */
  readonly filled: boolean;
  /** Whether Enter was pressed on this draft while an answer was running. */
  readonly held: boolean;
  readonly send: () => void;
  readonly change: (value: string) => void;
}

function useDraft(busy: boolean, onSend: (text: string) => void): Draft {
  const [draft, setDraft] = useState("");
  const [held, setHeld] = useState(false);
  const filled = draft.trim() !== "";
  const send = (): void => {
    setHeld(busy && filled);
    if (busy || !filled) return;
    setDraft("");
    onSend(draft.trim());
  };
  const change = (value: string): void => {
    // Who goes on typing after Enter means something new: it starts on a line of its own.
    const isAddition = held && value.length > draft.length && value.startsWith(draft);
    setDraft(isAddition ? `${draft}\n${value.slice(draft.length)}` : value);
    setHeld(false);
  };
  return { draft, filled, held, send, change };
}

interface HintProperties {
  readonly id: string;
  readonly busy: boolean;
  readonly filled: boolean;
  readonly held: boolean;
}

function Hint({ id, busy, filled, held }: HintProperties) {
  return (
    <p className="composer-hint" id={id} data-held={busy && held}>
      {busy ? (
        <>
          {filled && "Your draft waits"}
          <span className="composer-keys">
            {filled && "; "}
            <kbd>Esc</kbd> stops the answer
          </span>
        </>
      ) : (
        <>
          <kbd>Enter</kbd> sends, <kbd>Shift</kbd> <kbd>Enter</kbd> for a new line
        </>
      )}
    </p>
  );
}
