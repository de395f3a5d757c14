import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findAddress } from "./address.mjs";
import { chosenExample } from "./examples.mjs";
import { mapPositions } from "./docs-project.mjs";
import { filesBelow, fingerprint } from "./fingerprint.mjs";
import { lineDiff } from "./line-diff.mjs";
import { singleVersions } from "./lockfile.mjs";
import { portProblem } from "./port.mjs";
import { run } from "./run.mjs";
import { stamp } from "./stamp.mjs";
import { projectNames } from "./test-projects.mjs";
import { unexpectedEntries } from "./top-level.mjs";

let folder = "";

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "think-tooling-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("the fingerprint", () => {
  it("changes with contents and names, and not with dependencies or build results", () => {
    const file = path.join(folder, "a.txt");
    const current = () => fingerprint(folder, filesBelow(folder));
    writeFileSync(file, "one");
    const first = current();
    mkdirSync(path.join(folder, "node_modules"));
    writeFileSync(path.join(folder, "node_modules", "b.txt"), "");
    expect(current()).toBe(first);
    writeFileSync(file, "two");
    expect(current()).not.toBe(first);
    writeFileSync(file, "one");
    writeFileSync(path.join(folder, "c.txt"), "");
    expect(current()).not.toBe(first);
  });
});

describe("a stamp", () => {
  it("matches only what was written last, and nothing after it was cleared", () => {
    const work = stamp("work", folder);
    expect(work.matches("a")).toBe(false);
    work.write("a");
    expect(work.matches("a")).toBe(true);
    expect(work.matches("b")).toBe(false);
    work.clear();
    expect(work.matches("a")).toBe(false);
  });
});

describe("the address of a server", () => {
  it("is found once its port is complete, with colours around it", () => {
    const escape = String.fromCharCode(27);
    expect(findAddress("Local: http://localhost:51")).toBeUndefined();
    expect(findAddress(`Local: http://localhost:${escape}[1m5173${escape}[22m/ \n`)).toBe(
      "http://localhost:5173/"
    );
    expect(findAddress("Ready on http://127.0.0.1:8787\n")).toBe("http://127.0.0.1:8787");
    expect(findAddress("see https://example.com:80/ ")).toBeUndefined();
  });
});

describe("the line difference", () => {
  it("shows changed lines only, with their numbers", () => {
    expect(lineDiff("a\nb\nc", "a\nx\nc\nd")).toEqual(["2 - b", "2 + x", "4 + d"]);
    expect(lineDiff("same", "same")).toEqual([]);
  });
});

describe("the lockfile", () => {
  it("gives the packages that have one version", () => {
    const lockfile = `packages:\n\n  '@a/b@1.2.3':\n    resolution: {}\n\n  c@1.0.0:\n    x: y\n\n  c@2.0.0:\n    x: y\n\nsnapshots:\n\n  d@1.0.0:\n    x: y\n`;
    expect(singleVersions(lockfile)).toEqual({ "@a/b": "1.2.3" });
  });
});

describe("positions in the documentation", () => {
  it("point to the Markdown file", () => {
    const origins = new Map([["blocks/README-md/line-7.ts", { document: "README.md", line: 7 }]]);
    expect(mapPositions("blocks/README-md/line-7.ts(3,5): error TS1: no", origins)).toBe(
      "README.md:9:5: error TS1: no"
    );
    expect(mapPositions("other.ts(3,5): error", origins)).toBe("other.ts(3,5): error");
  });
});

describe("the top level", () => {
  it("accepts the fixed names, dot-files and generated folders, and names the rest", () => {
    expect(unexpectedEntries(["docs", ".ci", "node_modules", "notes.txt"], ["docs"])).toEqual(["notes.txt"]);
  });
});

describe("running a program", () => {
  it("gives output and exit code, also when the program does not exist", async () => {
    const said = await run(process.execPath, [
      "-e",
      "console.log(1); console.error(2); process.exitCode = 3"
    ]);
    expect(said).toMatchObject({ code: 3, stdout: "1\n" });
    expect(said.output).toContain("2");
    expect((await run(path.join(folder, "missing"), [])).code).not.toBe(0);
  });

  it("ends a program that takes too long, and says so", async () => {
    const { code, output } = await run(process.execPath, ["-e", "setInterval(() => {}, 1000)"], {
      timeout: 200
    });
    expect(code).not.toBe(0);
    expect(output).toContain("ran longer than 0.2 s");
  });
});

describe("leaving on a signal", () => {
  it("runs the exit handlers to their end when the signal comes twice", async () => {
    const script = path.join(folder, "program.mjs");
    writeFileSync(
      script,
      `import { exitOnSignals } from ${JSON.stringify(new URL("run.mjs", import.meta.url).href)};
      exitOnSignals();
      process.once("exit", () => {
        console.log("leaving");
        const end = performance.now() + 200;
        while (performance.now() < end);
        console.log("everything is ended");
      });
      setInterval(() => {}, 1000);
      console.log("ready");`
    );
    const program = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    program.stdout.on("data", (data) => {
      output += data;
      program.kill("SIGINT");
    });
    const [code] = await once(program, "close");
    expect(output).toContain("everything is ended");
    expect(code).toBe(130);
  });
});

describe("the wanted port", () => {
  it("may be left out, and must be a number", async () => {
    expect(await portProblem(undefined)).toBeUndefined();
    expect(await portProblem("")).toBeUndefined();
    expect(await portProblem("eighty")).toContain('PORT is "eighty"');
    expect(await portProblem("70000")).toContain("1 to 65535");
  });

  it("is refused while another program has it", async () => {
    const server = createServer().listen(0, "localhost");
    await once(server, "listening");
    const address = server.address();
    const port = String(typeof address === "object" ? address?.port : "");
    expect(await portProblem(port)).toContain(`Port ${port} is taken`);
    server.close();
    await once(server, "close");
    expect(await portProblem(port)).toBeUndefined();
  });
});

describe("the test projects", () => {
  it("are read from the workspace file, in order, by the names in their configs", () => {
    const workspace = 'projects: [\n  "a/vitest.config.ts",\n  "b/vitest.unit.config.ts"\n]';
    expect(projectNames(workspace, (file) => `test: { name: "of ${file[0]}" }`)).toEqual(["of a", "of b"]);
  });

  it("must be listed and named", () => {
    expect(() => projectNames("projects: []", () => "")).toThrow("lists no project");
    expect(() => projectNames('["a/vitest.config.ts"]', () => "")).toThrow("no name");
  });
});

describe("the example that npm start serves", () => {
  it("is the assistant unless another one is named", () => {
    expect(chosenExample(undefined).name).toBe("assistant");
    expect(chosenExample("agents-as-tools").folder).toMatch(/examples.agents-as-tools$/);
  });

  it("is one that exists", () => {
    for (const name of ["nothing", "..", "__proto__"])
      expect(() => chosenExample(name)).toThrow('use "agents-as-tools" or "assistant"');
  });
});

describe("a guarded program", () => {
  it("ends with the script that started it, even when that is killed without a word", async () => {
    const guard = new URL("guard.mjs", import.meta.url).pathname;
    const script = path.join(folder, "script.mjs");
    writeFileSync(
      script,
      `import { spawn } from "node:child_process";
      const program = "console.log('at work'); setInterval(() => {}, 1000)";
      spawn(process.execPath, [${JSON.stringify(guard)}, String(process.pid), process.execPath, "-e", program], {
        detached: true,
        stdio: ["ignore", "inherit", "inherit"]
      });
      setInterval(() => {}, 1000);`
    );
    const starter = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
    const [said] = await once(starter.stdout, "data");
    expect(String(said)).toContain("at work");
    const closed = once(starter, "close");
    starter.kill("SIGKILL");
    // The pipe is closed when the last program that has it is gone.
    await closed;
  });
});
