/** Markdown from the model. Raw HTML is not rendered, and links open outside the chat. */
import { isValidElement, memo, type ReactNode } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { CodeBlock } from "./code-block";
import { ScrollArea } from "./scroll-area";

const PLUGINS = [remarkGfm];

const COMPONENTS: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer">
      {children}
    </a>
  ),
  pre: ({ children }) => {
    const { text, language } = codeIn(children);
    return <CodeBlock text={text} language={language} />;
  },
  table: ({ children }) => (
    <ScrollArea className="table-scroll">
      <table>{children}</table>
    </ScrollArea>
  )
};

interface MarkdownProperties {
  readonly text: string;
  /** Shows a caret at the end while more is coming. */
  readonly live: boolean;
}

export const Markdown = memo(function Markdown({ text, live }: MarkdownProperties) {
  return (
    <div className="markdown" data-live={live}>
      <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS}>
        {text}
      </ReactMarkdown>
    </div>
  );
});

/** A fenced block arrives as `<pre><code class="language-x">text</code></pre>`. */
function codeIn(children: ReactNode): { readonly text: string; readonly language: string | undefined } {
  if (!isValidElement<{ readonly className?: string; readonly children?: ReactNode }>(children)) {
    return { text: typeof children === "string" ? children : "", language: undefined };
  }
  const { className, children: text } = children.props;
  return {
    text: (typeof text === "string" ? text : "").replace(/\n$/, ""),
    language: /language-(\S+)/.exec(className ?? "")?.[1]
  };
}
