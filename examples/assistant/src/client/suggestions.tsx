/** The empty page: a greeting and a few requests that any model, the offline one included, can answer. */
import { Icon, type IconName, Logo } from "./icons";

interface Suggestion {
  readonly icon: IconName;
  readonly title: string;
  readonly text: string;
}

const SUGGESTIONS: readonly Suggestion[] = [
  {
    icon: "pencil",
    title: "Write a note",
    text: "write a file notes/today.md with # Today: ship the example and then read it back"
  },
  { icon: "folder", title: "Look around", text: "list files" },
  { icon: "terminal", title: "Run a command", text: "run echo 'hello from the workspace' | tr a-z A-Z" },
  { icon: "book", title: "Stream something long", text: "tell me a long story" }
];

export function Suggestions({ onSuggest }: { readonly onSuggest: (text: string) => void }) {
  return (
    <section className="welcome" aria-labelledby="welcome-title">
      <Logo size={44} />
      <h2 id="welcome-title">What are we working on?</h2>
      <p>Every chat has its own files and a shell. Answers survive a reload, a crash and a closed laptop.</p>
      <ul className="suggestions">
        {SUGGESTIONS.map(({ icon, title, text }) => (
          <li key={title}>
            <button type="button" className="suggestion" onClick={() => onSuggest(text)}>
              <Icon name={icon} />
              <span>
                <strong>{title}</strong>
                <span className="suggestion-text">{text}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
