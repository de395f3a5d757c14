/** System, light or dark, as radio buttons: one tab stop, arrow keys inside. */
import { useId } from "react";
import { chooseTheme, THEMES, useTheme } from "./use-theme";

const LABELS = { system: "Auto", light: "Light", dark: "Dark" } as const;

export function ThemeSwitch() {
  const theme = useTheme();
  // The sidebar exists twice (beside the chat and in the drawer); each needs its own radio group.
  const group = useId();
  return (
    <fieldset className="theme-switch">
      <legend className="visually-hidden">Theme</legend>
      {THEMES.map((option) => (
        <label key={option}>
          <input
            type="radio"
            name={group}
            className="visually-hidden"
            checked={theme === option}
            onChange={() => chooseTheme(option)}
          />
          <span>{LABELS[option]}</span>
        </label>
      ))}
    </fieldset>
  );
}
