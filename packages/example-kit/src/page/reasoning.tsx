/** What the model thought before it answered: open while it thinks, folded afterwards, always within reach. */
import { useState } from "react";
import { Icon } from "./icons";

export function Reasoning({ text, live }: { readonly text: string; readonly live: boolean }) {
  const [chosen, setChosen] = useState<boolean>();
  if (text === "") return null;
  return (
    <details
      className="reasoning"
      open={chosen ?? live}
      onToggle={(event) => {
        // The page opens and closes it as well; only a difference is the reader's own choice.
        if (event.currentTarget.open !== (chosen ?? live)) setChosen(event.currentTarget.open);
      }}
    >
      <summary>
        <Icon name="thought" size={16} />
        {live ? "Thinking…" : "Thought it through"}
        <Icon name="chevron" size={14} />
      </summary>
      <p>{text}</p>
    </details>
  );
}
