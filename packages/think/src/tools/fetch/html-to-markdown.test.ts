import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { htmlToMarkdown } from "./html-to-markdown";

const base = new URL("https://example.com/docs/page");
const markdown = (html: string) => htmlToMarkdown(html, base).markdown;

describe("issue 5.6: HTML as Markdown", () => {
  it.each([
    ["headings and paragraphs", "<h1>One</h1><p>a\n  b</p><p>c</p>", "# One\n\na b\n\nc"],
    [
      "emphasis and code",
      "<p>a <b>bold</b>, <em>soft</em> <code>x &lt; y</code></p>",
      "a **bold**, _soft_ `x < y`"
    ],
    ["links made absolute", '<a href="../a?x=1&amp;y=2">A</a>', "[A](https://example.com/a?x=1&y=2)"],
    ["links that lead nowhere", '<a href="javascript:alert(1)">A</a> <a href="#top">B</a>', "A B"],
    ["lists", "<ul><li>a<ol><li>b</li><li>c</li></ol></li><li>d</li></ul>", "- a\n  1. b\n  2. c\n- d"],
    [
      "code blocks as written",
      "<pre><code>if (a) {\n  b &amp;&amp; c\n}</code></pre>",
      "```\nif (a) {\n  b && c\n}\n```"
    ],
    [
      "tables",
      "<table><tr><th>a</th><th>b</th></tr><tr><td><p>1</p></td><td>2</td></tr></table>",
      "| a | b |\n| 1 | 2 |"
    ],
    ["quotations", "<blockquote><p>said</p></blockquote><p>after</p>", "> said\n\nafter"],
    [
      "images with a text",
      '<img alt="A  cat" src="/cat.png"><img src="/x.png">',
      "![A cat](https://example.com/cat.png)"
    ],
    [
      "invisible parts left out",
      "a<script>if (x < y) '</p>'</script><style>p{}</style><!-- <p>no --> b",
      "a b"
    ],
    ["text that is no tag", "1 < 2 & 3 > 2 <3", "1 < 2 & 3 > 2 <3"],
    ["attributes with brackets", '<p title="a>b">x</p>', "x"],
    ["numeric entities", "&#65;&#x42;&#0;&#xD800;&#99999999;", "AB\uFFFD\uFFFD&#99999999;"]
  ])("shows %s", (_, html, expected) => {
    expect(markdown(html)).toBe(expected);
  });

  it("takes the title of the page, not of its pictures", () => {
    expect(
      htmlToMarkdown("<head><title> A\n B </title></head><svg><title>C</title></svg><p>x</p>", base)
    ).toEqual({
      markdown: "x",
      title: "A B"
    });
  });

  it("takes any input, and hostile ones in linear time", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ..."<ul> <li> </ul> <pre> </pre> <a href='x'> </a> <td> </td> <tr> <blockquote> <b> </b> <script> <!-- --> < > & &#x; <p </title> <title>".split(
          " "
        )
      ),
      fc.string()
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        expect(typeof markdown(pieces.join(""))).toBe("string");
      }),
      { numRuns: 1000 }
    );
    const started = performance.now();
    for (const unit of [
      "<",
      "<ul><li>",
      "<!--",
      "<script>",
      "<a href='",
      "&#",
      "<p ",
      "</",
      "<blockquote>",
      " \n"
    ])
      markdown(unit.repeat(300_000));
    // Quadratic work on 2 MB would take minutes.
    expect(performance.now() - started).toBeLessThan(50_000);
  });
});
