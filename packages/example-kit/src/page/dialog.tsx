/** A modal on the native `<dialog>`: focus trap, Escape, a click beside it and the return of the focus come from the browser. */
import { type ReactNode, type Ref, useImperativeHandle, useRef } from "react";
import { Icon } from "./icons";

export interface DialogHandle {
  readonly open: () => void;
  readonly close: () => void;
}

interface DialogProperties {
  readonly ref: Ref<DialogHandle>;
  /** The dialog's accessible name. */
  readonly label: string;
  readonly className?: string;
  readonly children: ReactNode;
}

export function Dialog({ ref, label, className = "", children }: DialogProperties) {
  const element = useRef<HTMLDialogElement>(null);
  useImperativeHandle(ref, () => ({
    open: () => element.current?.showModal(),
    close: () => element.current?.close()
  }));
  return (
    <dialog ref={element} className={`dialog ${className}`} aria-label={label} closedby="any">
      <div className="dialog-body">
        <button
          type="button"
          className="button-icon dialog-close"
          aria-label="Close"
          onClick={() => element.current?.close()}
        >
          <Icon name="close" />
        </button>
        {children}
      </div>
    </dialog>
  );
}
