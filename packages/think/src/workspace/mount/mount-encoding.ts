/** The text encodings of the shell's file system calls. Pure. */
import type { IFileSystem } from "just-bash";

export type Content = Parameters<IFileSystem["writeFile"]>[1];
export type Encoding = Parameters<IFileSystem["writeFile"]>[2];

export function encodingOf(options: Parameters<IFileSystem["readFile"]>[1]): string {
  return (typeof options === "string" ? options : options?.encoding) ?? "utf8";
}

export function toBytes(content: Content, encoding: string | undefined): Uint8Array {
  if (content instanceof Uint8Array) return content.slice();
  switch (encoding) {
    case "binary":
    case "latin1":
    case "ascii":
      return fromBinaryString(content);
    case "base64":
      return Uint8Array.from(atob(content), (char) => char.charCodeAt(0));
    case "hex":
      return Uint8Array.from(content.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
    default:
      return new TextEncoder().encode(content);
  }
}

/** One byte per code unit, unless some do not fit: then it was text after all. */
function fromBinaryString(content: string): Uint8Array {
  const bytes = new Uint8Array(content.length);
  for (let index = 0; index < content.length; index++) {
    const code = content.charCodeAt(index);
    if (code > 0xff) return new TextEncoder().encode(content);
    bytes[index] = code;
  }
  return bytes;
}

export function fromBytes(bytes: Uint8Array, encoding: string): string {
  switch (encoding) {
    case "binary":
    case "latin1":
    case "ascii":
      return binaryString(bytes);
    case "base64":
      return btoa(binaryString(bytes));
    case "hex":
      return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    default:
      return new TextDecoder().decode(bytes);
  }
}

/** In pieces: spreading megabytes into one call overflows the stack. */
function binaryString(bytes: Uint8Array): string {
  const piece = 0x8000;
  let text = "";
  for (let index = 0; index < bytes.length; index += piece)
    text += String.fromCharCode(...bytes.subarray(index, index + piece));
  return text;
}
