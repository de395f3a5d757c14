import { describe, expect, it } from "vitest";
import { codeBlocks, headingAnchors, relativeLinks } from "./markdown.mjs";

const fence = "```";

describe("code blocks", () => {
  it("are found with their language, line and code", () => {
    const markdown = `# Title\n\n${fence}ts\nconst a = 1;\nconst b = 2;\n${fence}\n`;
    expect(codeBlocks(markdown)).toEqual([
      { language: "ts", checked: true, file: undefined, line: 4, code: "const a = 1;\nconst b = 2;" }
    ]);
  });

  it("other than TypeScript are left alone", () => {
    expect(codeBlocks(`${fence}sh\nnpm start\n${fence}\n${fence}json\n{}\n${fence}`)).toEqual([]);
  });

  it("opt out with no-check, and get a name with file=", () => {
    const blocks = codeBlocks(`${fence}ts no-check\na b c\n${fence}\n${fence}tsx file=app.tsx\nx\n${fence}`);
    expect(blocks.map(({ checked, file, language }) => [language, checked, file])).toEqual([
      ["ts", false, undefined],
      ["tsx", true, "app.tsx"]
    ]);
  });

  it("inside a list lose the list's indent, and a longer fence may hold a shorter one", () => {
    expect(codeBlocks(`- item\n\n  ${fence}ts\n  if (a) {\n    b();\n  }\n  ${fence}`)[0]?.code).toBe(
      "if (a) {\n  b();\n}"
    );
    expect(codeBlocks(`${fence}\`md\n${fence}ts\nx\n${fence}\n${fence}\``)).toEqual([]);
  });
});

describe("relative links", () => {
  it("are found in links, images, definitions and HTML, not in code or to the web", () => {
    const markdown = [
      '[a](docs/a.md) ![b](b.png "title") [web](https://example.com) [mail](mailto:a@b.c)',
      "[ref]: ./c.md",
      '<img src="d.png">',
      "`[no](code.md)`",
      fence,
      "[no](block.md)",
      fence
    ].join("\n");
    expect(relativeLinks(markdown).map(({ target, line }) => `${line} ${target}`)).toEqual([
      "1 docs/a.md",
      "1 b.png",
      "2 ./c.md",
      "3 d.png"
    ]);
  });
});

describe("heading anchors", () => {
  it("follow GitHub: lower case, dashes, no punctuation, numbered repeats", () => {
    expect([...headingAnchors("# Hello, World!\n## `getModel()`\n## Twice\n## Twice")]).toEqual([
      "hello-world",
      "getmodel",
      "twice",
      "twice-1"
    ]);
  });
});
