/** Preformatted text with a copy button. */
import { CopyButton } from "./copy-button";
import { ScrollArea } from "./scroll-area";

export function CodeBlock({
  text,
  language
}: {
  readonly text: string;
  readonly language?: string | undefined;
}) {
  return (
    <figure className="code-block">
      {language !== undefined && <figcaption>{language}</figcaption>}
      <ScrollArea className="code-scroll">
        <pre>
          <code>{text}</code>
        </pre>
      </ScrollArea>
      <CopyButton text={text} label="Copy code" />
    </figure>
  );
}
