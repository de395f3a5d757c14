/** The Worker's bindings. */
export interface Env {
  readonly Lead: DurableObjectNamespace;
}
