import { expect, it, vi } from "vitest";
import { MemoryWorkspace } from "../../workspace/memory-workspace";
import { createWorkspaceTools } from "./create-workspace-tools";

vi.mock("just-bash", () => ({
  DefenseInDepthBox: undefined,
  Bash: class {
    async exec() {
      throw new Error("the shell itself broke");
    }
  }
}));

it("§2.3 an exception of the shell is a result: no output, its message, exit code 1", async () => {
  const { bash } = createWorkspaceTools(new MemoryWorkspace());
  expect(await bash.execute({ script: "true" })).toMatchObject({
    stdout: "",
    stderr: "the shell itself broke",
    exitCode: 1
  });
});
