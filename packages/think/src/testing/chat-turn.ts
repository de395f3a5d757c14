/**
 * One turn as a test client sees it: the response frames of one request id, from a given position on.
 * Made by the chat client for a request it sent and for a stream it resumed.
 */
import type { UIMessageChunk } from "ai";
import { FRAME } from "../protocol/frames";
import { chunksIn, textIn, type FrameLog, type ReceivedFrame, type WaitOptions } from "./frame-log";

/** A turn that has reached its terminal frame. */
export interface ChatTurnResult {
  readonly id: string;
  /** All streamed text. */
  readonly text: string;
  /** The error text, or undefined when the turn did not fail. */
  readonly error: string | undefined;
  readonly chunks: readonly UIMessageChunk[];
  /** The response frames of this turn, the terminal one last. */
  readonly frames: readonly ReceivedFrame[];
}

/** A turn in progress. */
export interface ChatTurn {
  /** The request id. */
  readonly id: string;
  /** Resolves at the terminal frame, whether the turn succeeded or not; rejects on time-out or closing. */
  readonly done: Promise<ChatTurnResult>;
  /** The response frames so far. */
  readonly frames: readonly ReceivedFrame[];
  /** The chunks so far. */
  readonly chunks: readonly UIMessageChunk[];
  /** The streamed text so far. */
  readonly text: string;
  /** Waits until the streamed text contains `part`; rejects when the turn ends without it. */
  waitForText(part: string, options?: WaitOptions): Promise<void>;
  /** Waits for the first chunk of this type, for example `"tool-output-available"`; rejects when the turn ends without it. */
  waitForChunk(type: UIMessageChunk["type"], options?: WaitOptions): Promise<UIMessageChunk>;
  /** Asks the server to stop the turn; `done` then resolves with what there was. */
  cancel(): void;
}

interface TurnSource {
  readonly id: string;
  readonly log: FrameLog;
  /** Position of the first frame that belongs to this turn. */
  readonly from: number;
  cancel(): void;
}

/** Follows the frames of one request id. */
export function followTurn({ id, log, from, cancel }: TurnSource): ChatTurn {
  const belongs = (frame: ReceivedFrame) => frame.type === FRAME.chatResponse && frame.id === id;
  const waitWithin = waiterWithin(log, from, belongs);
  const framesSoFar = () => log.frames.slice(from).filter(belongs);
  const done = log
    .waitFor((frame) => belongs(frame) && frame.done === true, {
      from,
      wanted: `the end of turn ${id}`
    })
    .then((): ChatTurnResult => {
      const frames = framesSoFar();
      const chunks = chunksIn(frames);
      const error = frames.find((frame) => frame.error === true);
      return { id, text: textIn(chunks), error: error?.body, chunks, frames };
    });
  // A test that is not interested in the end must not fail because of it.
  done.catch(() => {});
  return {
    id,
    done,
    get frames() {
      return framesSoFar();
    },
    get chunks() {
      return chunksIn(framesSoFar());
    },
    get text() {
      return textIn(chunksIn(framesSoFar()));
    },
    async waitForText(part, options) {
      let text = "";
      const wanted = `the text ${JSON.stringify(part)} in turn ${id}`;
      await waitWithin(wanted, options, (frame) => {
        text += textIn(chunksIn([frame]));
        return text.includes(part);
      });
    },
    async waitForChunk(type, options) {
      const isWanted = (chunk: UIMessageChunk) => chunk.type === type;
      const wanted = `a ${type} chunk in turn ${id}`;
      const frame = await waitWithin(wanted, options, (candidate) => chunksIn([candidate]).some(isWanted));
      const [chunk] = chunksIn([frame]);
      if (chunk === undefined) throw new Error(`The frame that matched does not carry ${wanted}.`);
      return chunk;
    },
    cancel
  };
}

/** Waits for a frame of one turn, but not beyond its end: what has not come by then never will. */
function waiterWithin(log: FrameLog, from: number, belongs: (frame: ReceivedFrame) => boolean) {
  return async (
    wanted: string,
    options: WaitOptions | undefined,
    matches: (frame: ReceivedFrame) => boolean
  ): Promise<ReceivedFrame> => {
    let isFound = false;
    const check = (frame: ReceivedFrame) => {
      isFound = belongs(frame) && matches(frame);
      return isFound || (belongs(frame) && frame.done === true);
    };
    const frame = await log.waitFor(check, { from, wanted, ...options });
    if (!isFound) throw new Error(log.failure(`The turn was over before ${wanted} came`));
    return frame;
  };
}
