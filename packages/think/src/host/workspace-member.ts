/**
 * `this.workspace`: the agent's own file system, made when it is first looked at. Called once, from the constructor of the class.
 *
 * I1. A class field of the same name defines its own property over this one: the default is then never made.
 * I2. Making it writes nothing; the table comes with the first use, so an agent without files pays no row.
 */
import { Workspace } from "@cloudflare/shell";

interface WorkspaceOwner {
  /** Not known while class fields are initialised. */
  readonly name: string;
}

export function installWorkspace(agent: WorkspaceOwner, storage: DurableObjectStorage): void {
  const define = (value: unknown) =>
    void Object.defineProperty(agent, "workspace", {
      value,
      writable: true,
      enumerable: true,
      configurable: true
    });
  Object.defineProperty(agent, "workspace", {
    get() {
      const workspace = new Workspace({ sql: storage.sql, name: () => agent.name });
      define(workspace);
      return workspace;
    },
    set: define,
    enumerable: true,
    configurable: true
  });
}
