/**
 * How long the helpers of this subpath wait when a call does not say. One value for all of them, asked at the moment of waiting, so that a
 * suite on a slow machine raises it in one place.
 */

/** Less than the five seconds that vitest gives a test by default, so that the reason of a failure is told. */
const usualTimeout = 4000;
let current = usualTimeout;

/**
 * Sets how many milliseconds every wait of this subpath may take unless the call says otherwise. Default 4000. Call it in a setup file, with
 * less than the runner's `testTimeout`.
 */
export function setDefaultTimeout(milliseconds: number): void {
  if (!(milliseconds > 0))
    throw new Error(`The default timeout is a number of milliseconds above 0, not ${milliseconds}.`);
  current = milliseconds;
}

/** The value in force. */
export function defaultTimeout(): number {
  return current;
}
