import { env } from "cloudflare:workers";
import { countAllRows, evict, connectChat, userMessage } from "@cloudflare/think/testing";
import { exports } from "cloudflare:workers";
import { it } from "vitest";
import { newSessions } from "./session-support";
import { dialogue } from "./worker/messages-agents";

it("dbg", async () => {
  const plain = env.PlainAgent.getByName("p" + Math.random()) as unknown as DurableObjectStub<never>;
  await (await connectChat(exports.default, { agent: "PlainAgent", name: "pp" })).close();
  const p = (env as any).PlainAgent.getByName("pp");
  const wakeP = async () => {
    await evict(p);
    await (await connectChat(exports.default, { agent: "PlainAgent", name: "pp" })).close();
  };
  const base = await countAllRows(p, wakeP);
  console.log("BASE", base.statements, base.totalRead, base.totalWritten);
  for (const n of [10, 1000, 5000]) {
    const s = newSessions(["one", "two", "three"]);
    await s.on((agent) => agent.session.appendMessages(dialogue(n - 2, 100)));
    await s.stub().saveMessages([userMessage("hi")]);
    const c = await countAllRows(s.stub(), async () => {
      await evict(s.stub());
      await (await s.connect()).close();
    });
    console.log(
      "WAKE",
      n,
      c.statements - base.statements,
      c.totalRead - base.totalRead,
      c.totalWritten - base.totalWritten
    );
    const seen = new Set(base.bySql.map((b) => b.sql));
    for (const q of c.bySql)
      if (!seen.has(q.sql)) console.log("  ", q.statements, q.rowsRead, q.sql.slice(0, 130));
  }
}, 60000);
