/** An agent with many files, and what its tools cost on them: rows and statements of its storage, counted inside the object. */
import { Think } from "@cloudflare/think";
import { countRows } from "@cloudflare/think/testing";
import { createWorkspaceTools } from "@cloudflare/think/tools/workspace";
import type { FileCost } from "./file-cost";

const LINE = "The keeper wrote down what the night had said.\n";

export class Files extends Think {
  override async onRequest(request: Request): Promise<Response> {
    return Response.json(await this.#measure(Number(new URL(request.url).searchParams.get("files"))));
  }

  async #measure(files: number): Promise<FileCost[]> {
    const { workspace } = this;
    for (let file = 0; file < files; file += 1)
      await workspace.writeFile(`/many/file-${file}.txt`, LINE.repeat(20));
    for (const name of ["a", "b", "c"]) await workspace.writeFile(`/notes/${name}.md`, "needle\n");
    const { list, find, grep, bash, read, write } = createWorkspaceTools(workspace);
    const costs: FileCost[] = [];
    const count = async (work: string, run: () => unknown) => {
      const { statements, rowsRead, rowsWritten } = await countRows(this.ctx, run);
      costs.push({ work, statements, rowsRead, rowsWritten });
    };
    await count("list /", () => list.execute({}));
    await count("list the large directory", () => list.execute({ path: "/many" }));
    await count("find by name, everywhere", () => find.execute({ pattern: "**/file-7*.txt" }));
    await count("find in a small directory", () => find.execute({ pattern: "/notes/*.md" }));
    await count("grep in a small directory", () => grep.execute({ query: "needle", include: "/notes/**" }));
    await count("grep, everywhere, without a match", () => grep.execute({ query: "nowhere" }));
    await count("read one file", () => read.execute({ path: "/notes/a.md" }));
    await count("write one file anew", () => write.execute({ path: "/notes/a.md", content: "other\n" }));
    await count("bash: true", () => bash.execute({ script: "true" }));
    await count("bash: reads one file", () => bash.execute({ script: "cat /notes/b.md" }));
    await count("bash: writes one file", () => bash.execute({ script: "echo new > /notes/c.md" }));
    return costs;
  }
}
