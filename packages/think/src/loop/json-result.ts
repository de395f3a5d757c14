/**
 * Results of tools must be data: they are streamed, stored and sent as JSON. What is not fails its call, so that the model is told and the
 * turn goes on; found later it would fail the turn. Used by the tool gate.
 */
import { errorText } from "../shared/errors/error-text";
import { isThenable } from "../shared/is-thenable";
import { isAsyncIterable } from "../shared/last-value";

/** The same result, whether it comes now, in a promise or piece by piece; one that is no data throws where it would have been given. */
export function asJsonResult(toolName: string, result: unknown): unknown {
  const check = (value: unknown) => checked(toolName, value);
  if (isAsyncIterable(result)) return eachOf(result, check);
  return isThenable(result) ? Promise.resolve(result).then(check) : check(result);
}

async function* eachOf(
  values: AsyncIterable<unknown>,
  check: (value: unknown) => unknown
): AsyncIterable<unknown> {
  for await (const value of values) yield check(value);
}

function checked(toolName: string, value: unknown): unknown {
  if (typeof value !== "object" && typeof value !== "bigint") return value;
  try {
    JSON.stringify(value);
    return value;
  } catch (error) {
    throw new TypeError(
      `The tool "${toolName}" returned something that cannot be written as JSON (${errorText(error)}); return plain data.`,
      { cause: error }
    );
  }
}
