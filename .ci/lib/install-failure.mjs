// Turns the output of a failed install into one sentence with cause and remedy.

const networkSigns =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT)\b|META_FETCH_FAIL|network request|fetch failed|getaddrinfo|error sending request|dns error|connection refused|timed out|tunneling socket/i;

const lockfileSigns = /OUTDATED_LOCKFILE|frozen-lockfile|lockfile.*(not up to date|out of date)/i;

const diskSigns = /\bENOSPC\b|no space left/i;

/**
 * @param {string} output What npx or pnpm printed.
 * @param {string} logFile Where the whole output is kept.
 */
export function explainInstallFailure(output, logFile) {
  if (diskSigns.test(output)) {
    return "The dependencies could not be installed because the disk is full: free about 2 GB and run the command again.";
  }
  if (lockfileSigns.test(output)) {
    return "The dependencies could not be installed because pnpm-lock.yaml does not fit the package.json files: run `npx pnpm install` and commit the lockfile.";
  }
  if (networkSigns.test(output)) {
    return "The dependencies could not be installed because the npm registry cannot be reached: check the network (or proxy) of this machine and run the command again.";
  }
  return `The dependencies could not be installed: the reason is at the end of ${logFile}; fix it and run the command again.`;
}

/**
 * Whether pnpm has lost the network. It would go on to try every single package, which takes minutes; ten requests
 * at their last attempt are proof enough.
 *
 * @param {string} output
 */
export function networkIsGone(output) {
  return output.split("0 retries left").length > 10;
}
