/**
 * Writes a session as one JSON document (document.ts), piece by piece: places of all messages and the contents of one page are in memory.
 */
import { SESSION_LIMITS } from "../../shared/limits";
import { ThinkError } from "../../shared/errors/think-error";
import type { SessionInfo } from "../session-store";
import { attachmentPaths } from "./attachment-path";
import { DOCUMENT_FORMAT, DOCUMENT_VERSION } from "./document";
import { exportable, planExport, type ExportTree, type TreeSource } from "./export-tree";

/** Files that messages refer to. */
export interface AttachmentReader {
  /** The content, or null when there is no such file. */
  read(path: string): Promise<string | null>;
}

export interface ExportSource extends TreeSource {
  readonly info: SessionInfo;
  /** Context blocks of the session, in the order of their labels. */
  readonly context: readonly { readonly label: string; readonly content: string }[];
  readonly attachments: AttachmentReader | undefined;
}

export async function* exportSession(source: ExportSource): AsyncGenerator<string> {
  const { info, context } = source;
  const tree = planExport(source);
  const session = {
    name: info.name,
    model: info.model,
    source: info.source,
    input_tokens: info.input_tokens,
    output_tokens: info.output_tokens,
    estimated_cost: info.estimated_cost,
    end_reason: info.end_reason,
    created_at: info.created_at,
    updated_at: info.updated_at
  };
  const head = { format: DOCUMENT_FORMAT, version: DOCUMENT_VERSION, session, leaf: tree.leafId };
  yield `${JSON.stringify(head).slice(0, -1)},"messages":[`;
  const paths = new Set<string>();
  yield* messagesOf(source, tree, paths);
  const forks = tree.forks.map(({ parentId, childId, leafId: leaf, label }) => ({
    ...{ parentId, childId, leafId: leaf, label }
  }));
  const summaries = tree.compactions.map(({ id, summary, fromMessageId, toMessageId, createdAt }) => ({
    ...{ id, summary, fromMessageId, toMessageId, createdAt }
  }));
  const blocks = context.map(({ label, content }) => ({ label, content }));
  yield `],"branches":${JSON.stringify(forks)},"compactions":${JSON.stringify(summaries)},"context":${JSON.stringify(blocks)},"attachments":[`;
  yield* attachmentsOf(source, [...paths].toSorted());
  yield "]}";
}

function* messagesOf(
  { store }: ExportSource,
  { parents }: ExportTree,
  paths: Set<string>
): Generator<string> {
  let separator = "";
  for (const row of store.rows()) {
    const parentId = parents.get(row.id);
    const message = parentId === undefined ? undefined : exportable(row);
    if (!message) continue;
    const json = JSON.stringify(message);
    for (const path of attachmentPaths(json)) paths.add(path);
    yield `${separator}{"parentId":${JSON.stringify(parentId)},"createdAt":${row.createdAt},"message":${json}}`;
    separator = ",";
  }
}

async function* attachmentsOf(
  { attachments }: ExportSource,
  paths: readonly string[]
): AsyncGenerator<string> {
  let separator = "";
  for (const path of paths) {
    const content = await attachments?.read(path);
    if (content === null || content === undefined) continue;
    yield separator + JSON.stringify({ path, content });
    separator = ",";
  }
}

/** The document as one text. Throws a ThinkError `export-too-large` when it would take too much memory. */
export async function collectExport(pieces: AsyncIterable<string>): Promise<string> {
  const collected: string[] = [];
  let chars = 0;
  for await (const piece of pieces) {
    chars += piece.length;
    if (chars > SESSION_LIMITS.exportChars)
      throw new ThinkError(
        `This session is larger than ${SESSION_LIMITS.exportChars} characters. Use exportSessionStream(), which does not hold it in memory.`,
        { code: "export-too-large" }
      );
    collected.push(piece);
  }
  return collected.join("");
}

/** The document as UTF-8 bytes, read as they are taken. */
export function byteStream(pieces: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    type: "bytes",
    async pull(controller: ReadableByteStreamController) {
      const { done, value } = await pieces.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await pieces.return(undefined);
    }
  });
}
