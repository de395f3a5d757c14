/**
 * Keeps the newest words in view while the reader is at the end, and leaves a reader who scrolled up alone.
 * Used by the conversation.
 */
import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

/** How far from the end still counts as being there (pixels). */
const NEAR_END = 64;

export interface Autoscroll {
  readonly viewport: RefObject<HTMLElement | null>;
  readonly content: RefObject<HTMLDivElement | null>;
  /** False while the reader looks at something further up. */
  readonly following: boolean;
  readonly jumpToEnd: () => void;
}

export function useAutoscroll(): Autoscroll {
  const viewport = useRef<HTMLElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const follow = useRef(true);
  const [following, setFollowing] = useState(true);

  const jumpToEnd = useCallback(() => {
    follow.current = true;
    setFollowing(true);
    const element = viewport.current;
    if (element !== null) element.scrollTop = element.scrollHeight;
  }, []);

  useEffect(() => {
    const element = viewport.current;
    const inner = content.current;
    if (element === null || inner === null) return undefined;
    const onScroll = (): void => {
      follow.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END;
      setFollowing(follow.current);
    };
    // Growth of the content, of the composer, or of an on-screen keyboard: each can push the end out of view.
    const observer = new ResizeObserver(() => {
      if (follow.current) element.scrollTop = element.scrollHeight;
    });
    observer.observe(inner);
    observer.observe(element);
    element.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", onScroll);
    };
  }, []);

  return { viewport, content, following, jumpToEnd };
}
