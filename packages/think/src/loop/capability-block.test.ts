import { expect, it } from "vitest";
import { withCapabilityBlock } from "./capability-block";

it("tells the model only of what the turn exposes", () => {
  const none = withCapabilityBlock("Be kind.  \n", []);
  expect(none.startsWith("Be kind.\n\nYou are running inside a Think agent.\n")).toBe(true);
  expect(none).not.toMatch(/workspace|MCP|sandbox|[Ee]xtension|context/);

  const files = withCapabilityBlock("Be kind.", ["read"]);
  expect(files).toContain("agent workspace");
  expect(files).toContain("MCP");
  expect(files).not.toContain("sandbox");

  expect(withCapabilityBlock("Be kind.", ["execute"])).toContain("sandbox");
  expect(withCapabilityBlock("Be kind.", ["load_context"])).toContain("context tools");
  expect(withCapabilityBlock("Be kind.", ["list_extensions"])).toContain("Extensions");
});

it("leaves a prompt that already has the block alone", () => {
  const once = withCapabilityBlock("Be kind.", ["read"]);
  expect(withCapabilityBlock(once, ["execute"])).toBe(once);
});
