/** Light, dark, or as the system says. The choice is kept in this browser; `index.html` applies it before paint. */
import { useSyncExternalStore } from "react";
import { load, save } from "./storage";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "think-example:theme";
const listeners = new Set<() => void>();
let current: Theme = THEMES.find((known) => known === load(KEY)) ?? "system";

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, () => current);
}

export function chooseTheme(theme: Theme): void {
  current = theme;
  save(KEY, theme);
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
