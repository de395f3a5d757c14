// Reads an npm tarball: enough of the tar format for what pnpm and npm write. Pure, apart from unzipping.
import { gunzipSync } from "node:zlib";

const block = 512;

/**
 * @param {Buffer} data
 * @param {number} start
 * @param {number} length
 */
function text(data, start, length) {
  const end = data.indexOf(0, start);
  return data.toString("utf8", start, end === -1 || end > start + length ? start + length : end);
}

/**
 * The files of a tarball by their path inside the package.
 *
 * @param {Uint8Array} tarball Gzipped.
 * @returns {Map<string, Buffer>}
 */
export function readTarball(tarball) {
  const data = gunzipSync(tarball);
  /** @type {Map<string, Buffer>} */
  const files = new Map();
  for (let offset = 0; offset + block <= data.length && data[offset] !== 0;) {
    const size = Number.parseInt(text(data, offset + 124, 12).trim() || "0", 8);
    const prefix = text(data, offset + 345, 155);
    const name = (prefix === "" ? "" : `${prefix}/`) + text(data, offset, 100);
    const type = String.fromCharCode(data[offset + 156] ?? 0);
    const start = offset + block;
    if (type === "0" || type === "\0") {
      files.set(name.replace(/^package\//, ""), data.subarray(start, start + size));
    }
    offset = start + Math.ceil(size / block) * block;
  }
  return files;
}
