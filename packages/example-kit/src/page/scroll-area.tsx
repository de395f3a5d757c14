/** Something that scrolls by itself. It takes the focus, so that the arrow keys can scroll it too. */
import type { ReactNode, Ref } from "react";

interface ScrollAreaProperties {
  readonly className: string;
  /** An accessible name; makes the area a landmark. */
  readonly label?: string;
  readonly ref?: Ref<HTMLElement>;
  readonly children: ReactNode;
}

export function ScrollArea({ className, label, ref, children }: ScrollAreaProperties) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- not every browser lets the keyboard into a scroll container by itself
    <section className={className} aria-label={label} ref={ref} tabIndex={0}>
      {children}
    </section>
  );
}
