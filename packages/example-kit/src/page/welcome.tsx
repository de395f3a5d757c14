/** The empty page: a greeting and a few requests to begin with. */
import { Icon, type IconName, Logo } from "./icons";

export interface Suggestion {
  readonly icon: IconName;
  readonly title: string;
  readonly text: string;
}

interface WelcomeProperties {
  readonly title: string;
  readonly text: string;
  readonly suggestions: readonly Suggestion[];
  readonly onSuggest: (text: string) => void;
}

export function Welcome({ title, text, suggestions, onSuggest }: WelcomeProperties) {
  return (
    <section className="welcome" aria-labelledby="welcome-title">
      <Logo size={44} />
      <h2 id="welcome-title">{title}</h2>
      <p>{text}</p>
      <ul className="suggestions">
        {suggestions.map((suggestion) => (
          <li key={suggestion.title}>
            <button type="button" className="suggestion" onClick={() => onSuggest(suggestion.text)}>
              <Icon name={suggestion.icon} />
              <span>
                <strong>{suggestion.title}</strong>
                <span className="suggestion-text">{suggestion.text}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
