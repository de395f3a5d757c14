/**
 * Whose `getTools()` is running right now, so that a tool factory which is given no agent can still find the object it is made for.
 * Set by the class; read by `createExecuteTool`. Synchronous on purpose: nothing leaks into code that runs later.
 */
export interface AgentScope {
  readonly ctx: DurableObjectState;
  /** Takes what keeps paused executions. */
  adopt(runtime: unknown): void;
}

let current: AgentScope | undefined;

export function withAgentScope<Result>(scope: AgentScope, work: () => Result): Result {
  const before = current;
  current = scope;
  try {
    return work();
  } finally {
    current = before;
  }
}

export function agentScope(): AgentScope | undefined {
  return current;
}
