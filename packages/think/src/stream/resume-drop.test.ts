import type { UIMessage } from "ai";
import { expect, it } from "vitest";
import { ResumableStream } from "./resumable-stream";
import { ResumeDesk } from "./resume-desk";
import type { StreamRecord } from "./stream-store";

const message: UIMessage = {
  id: "m",
  role: "assistant",
  parts: [{ type: "text", text: "Half", state: "done" }]
};

it("§2.6, trap 4: a socket that is lost during the replay of a failure gets no end, and its next visit repeats everything", () => {
  const record: StreamRecord = {
    ...{ id: "s", requestId: "r", messageId: "m", status: "error", continuation: false, error: "boom" },
    ...{ progress: 0, createdAt: 0 }
  };
  const store = {
    load: () => record,
    save() {},
    writeRow() {},
    chunks: () => [],
    countRows: () => 0,
    clear() {}
  };
  const sent: string[] = [];
  let room = 2;
  const desk = new ResumeDesk(new ResumableStream({ store, now: () => 0 }), {
    send: (_id, frame) => {
      if (sent.length >= room) return false;
      sent.push(frame);
      return true;
    },
    message: () => message,
    isRecovering: () => false,
    settleOrphan() {},
    claim: () => ({ kind: "open" })
  });
  desk.acknowledge("a", "r");
  expect(sent).toHaveLength(2);
  expect(sent.some((frame) => frame.includes('"done":true'))).toBe(false);
  sent.length = 0;
  room = Infinity;
  desk.acknowledge("a", "r");
  expect(sent.join("")).toContain("Half");
  expect(JSON.parse(sent.at(-1) ?? "")).toMatchObject({
    body: "boom",
    done: true,
    error: true,
    replay: true
  });
});
