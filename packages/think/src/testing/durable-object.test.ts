import { expect, it } from "vitest";
import { evictAll } from "./durable-object";

it("says where the helpers work when they are called elsewhere", async () => {
  await expect(evictAll()).rejects.toThrow(
    "works only inside a test run by the Cloudflare vitest integration"
  );
});
