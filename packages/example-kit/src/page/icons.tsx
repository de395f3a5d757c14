/** The page's few icons: one stroke weight, current colour, hidden from screen readers (buttons carry labels). */
const PATHS = {
  arrowUp: "M12 19V5M5.5 11.5 12 5l6.5 6.5",
  arrowDown: "M12 5v14M5.5 12.5 12 19l6.5-6.5",
  stop: "M8 8h8v8H8z",
  plus: "M12 5v14M5 12h14",
  menu: "M4 7h16M4 12h16M4 17h10",
  close: "M6 6l12 12M18 6 6 18",
  retry: "M20 11a8 8 0 1 0-2.3 6.2M20 5v6h-6",
  trash: "M4 7h16M10 11v6M14 11v6M6 7l1 13h10l1-13M9 7V4h6v3",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  check: "M5 12.5 10 17.5 19.5 7",
  chevron: "M9 6l6 6-6 6",
  alert: "M12 8v5M12 16.5v.01M12 3 2.5 20h19z",
  plug: "M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4",
  thought: "M9 18h6M10 21h4M12 3a6 6 0 0 0-3.5 10.9V15h7v-1.1A6 6 0 0 0 12 3z",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  pencil: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
  folder: "M3 6h6l2 2h10v11H3z",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM20 20l-4-4",
  terminal: "M4 5h16v14H4zM7.5 9.5 10 12l-2.5 2.5M12.5 15H16",
  wrench:
    "M14 6a4 4 0 0 1 5-3l-2.5 2.5 2 2L21 5a4 4 0 0 1-5.5 4.8L7 18.3a2 2 0 0 1-2.8-2.8L12.7 7A4 4 0 0 1 14 6z",
  book: "M12 6c-2-1.5-5-2-8-2v14c3 0 6 .5 8 2 2-1.5 5-2 8-2V4c-3 0-6 .5-8 2zM12 6v14"
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg className="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The mark of the assistant, as in the favicon. */
export function Logo({ size = 28 }: { readonly size?: number }) {
  return (
    <svg className="logo" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="9.5" />
      <path d="M16 7.5c.9 4.9 3.6 7.6 8.5 8.5-4.9.9-7.6 3.6-8.5 8.5-.9-4.9-3.6-7.6-8.5-8.5 4.9-.9 7.6-3.6 8.5-8.5z" />
    </svg>
  );
}
