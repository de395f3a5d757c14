/**
 * Replaces methods of objects this code does not own, and puts them back. Used by the storage watch.
 *
 * Invariant: a method has one wrapper however many interceptors it has, and its original is back as soon as
 * the last of them is gone, in whatever order they go.
 */

/** A call on its way to the original. */
export interface InterceptedCall {
  readonly args: readonly unknown[];
  /** Passes the call on, with other arguments if given. */
  proceed(args?: readonly unknown[]): unknown;
}

export type Interceptor = (call: InterceptedCall) => unknown;

interface Method {
  readonly interceptors: Interceptor[];
  restore(): void;
}

const intercepted = new WeakMap<object, Map<string | symbol, Method>>();

/** Sends calls of a method through `interceptor`; returns what ends it. A missing method is left alone. */
export function intercept(target: object, name: string | symbol, interceptor: Interceptor): () => void {
  const methods = intercepted.get(target) ?? new Map<string | symbol, Method>();
  intercepted.set(target, methods);
  const method = methods.get(name) ?? install(target, name);
  if (method === undefined) return () => {};
  methods.set(name, method);
  method.interceptors.push(interceptor);
  return () => {
    const position = method.interceptors.indexOf(interceptor);
    if (position === -1) return;
    method.interceptors.splice(position, 1);
    if (method.interceptors.length > 0) return;
    method.restore();
    methods.delete(name);
  };
}

function install(target: object, name: string | symbol): Method | undefined {
  const original: unknown = Reflect.get(target, name);
  if (typeof original !== "function") return undefined;
  const before = Object.getOwnPropertyDescriptor(target, name);
  const interceptors: Interceptor[] = [];
  const value = function (this: unknown, ...args: unknown[]): unknown {
    const call = (passed: readonly unknown[]): unknown => Reflect.apply(original, this, passed);
    const chain = interceptors.reduce(
      (next, interceptor) => (passed: readonly unknown[]) =>
        interceptor({ args: passed, proceed: (changed = passed) => next(changed) }),
      call
    );
    return chain(args);
  };
  Object.defineProperty(target, name, { configurable: true, enumerable: true, writable: true, value });
  return {
    interceptors,
    restore() {
      if (before === undefined) Reflect.deleteProperty(target, name);
      else Object.defineProperty(target, name, before);
    }
  };
}
