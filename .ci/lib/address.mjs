// Reads the address a development server prints, and waits until it answers.
import { setTimeout as sleep } from "node:timers/promises";

const escapes = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");

/**
 * The first local http address in a server's output.
 *
 * @param {string} output
 * @returns {string | undefined}
 */
export function findAddress(output) {
  // The character after the port proves that the whole number has arrived.
  return /https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\]):\d+(?=\D)\/?/.exec(output.replace(escapes, ""))?.[0];
}

/**
 * @param {import("node:stream").Readable} stdout
 * @returns {Promise<string>}
 */
function printedAddress(stdout) {
  return new Promise((resolve) => {
    let seen = "";
    stdout.on("data", (data) => {
      seen += data;
      const address = findAddress(seen);
      if (address !== undefined) resolve(address);
    });
  });
}

/**
 * Polls until the address answers with a page. A refused connection only means "not yet".
 *
 * @param {string} address
 * @param {number} limitMs
 * @returns {Promise<string>} The page.
 */
export async function pageAt(address, limitMs) {
  const deadline = Date.now() + limitMs;
  while (Date.now() < deadline) {
    try {
      const response = await fetch(address, {
        signal: AbortSignal.timeout(10_000),
        headers: { accept: "text/html" }
      });
      if (response.ok) return await response.text();
    } catch {
      // Not listening yet.
    }
    await sleep(100);
  }
  throw new Error(`${address} gave no page within ${limitMs / 1000} s: look at the server's output above.`);
}

/**
 * Waits for a server to print its address and to answer there.
 *
 * @param {import("node:stream").Readable} stdout
 * @param {number} limitMs
 */
export async function answeringAddress(stdout, limitMs) {
  const late = new AbortController();
  const address = await Promise.race([
    printedAddress(stdout),
    sleep(limitMs, undefined, { signal: late.signal }).catch(() => undefined)
  ]);
  late.abort();
  if (address === undefined) throw new Error(`The server printed no address within ${limitMs / 1000} s.`);
  await pageAt(address, limitMs);
  return address;
}
