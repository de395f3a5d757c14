/** Part of the long form: nobody comes back, and the alarm, which comes after half a minute, must do. */
import { expect, it } from "vitest";
import { Arena } from "./support/scenario";

it("§3.1 a turn that nobody watches is carried on by its alarm alone", async () => {
  const arena = await Arena.open();
  try {
    await arena.survivesAlone();
    expect(arena.kills).toBe(1);
  } finally {
    await arena.close();
  }
});
