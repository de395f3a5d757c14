// Checks the PORT a user asked for, before a server fails on it with a stack trace.
import { createServer } from "node:net";

/**
 * @param {number} port
 * @returns {Promise<boolean>}
 */
function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "localhost", () => server.close(() => resolve(true)));
  });
}

/**
 * @param {string | undefined} wanted The environment variable; unset or empty means that the server chooses.
 * @returns {Promise<string | undefined>} One sentence when it cannot be used.
 */
export async function portProblem(wanted) {
  if (wanted === undefined || wanted === "") return undefined;
  const port = Number(wanted);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    return `PORT is "${wanted}", which is no port: set it to a number from 1 to 65535, or leave it out.`;
  }
  if (await isFree(port)) return undefined;
  return `Port ${port} is taken or not allowed: set PORT to another number, or leave it out to get a free one.`;
}
