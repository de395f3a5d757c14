/** Where evicted media lies. Documents come from outside: no other file of the workspace may be read or written through one. */

const NAME = String.raw`\/attachments\/evicted\/[\w-][\w.-]*`;
const WHOLE = new RegExp(`^${NAME}$`);

/** Whether a path is that of an evicted file. A name begins with no dot and has no slash, so it cannot climb out. */
export function isAttachmentPath(path: string): boolean {
  return WHOLE.test(path);
}

/** Every such path in a text. */
export function attachmentPaths(text: string): string[] {
  return [...text.matchAll(new RegExp(NAME, "g"))].map(([path]) => path);
}
