/**
 * What the last request said about its client: the tools that run there and the application's own fields. Continuations, programmatic
 * turns and recovery use it, so it is durable; it is written only when it changes.
 */
import type { ChatRequestBody, ClientToolSchema } from "../protocol/frames";
import { isRecord } from "../shared/json";
import type { ConfigStore } from "../storage/config-store";

export interface RequestContext {
  readonly clientTools: readonly ClientToolSchema[];
  readonly body: Readonly<Record<string, unknown>> | undefined;
  /** A new request: absent tools are kept, an empty list forgets them; the fields are always replaced. */
  accept(request: Pick<ChatRequestBody, "clientTools" | "custom">): void;
  /** A tool result brought the client's tools along. An empty list says nothing here. */
  acceptTools(clientTools: readonly ClientToolSchema[] | undefined): void;
  /** The context that an interrupted turn had: it is run again with what it was asked with. */
  restore(context: RestoredContext): void;
  clear(): void;
}

/** Null forgets, absent keeps. */
export interface RestoredContext {
  readonly body?: Readonly<Record<string, unknown>> | null | undefined;
  readonly clientTools?: readonly ClientToolSchema[] | null | undefined;
}

const TOOLS = "lastClientTools";
const BODY = "lastBody";

export function createRequestContext(config: ConfigStore): RequestContext {
  const saveTools = (tools: readonly ClientToolSchema[]) =>
    config.set(TOOLS, tools.length > 0 ? tools : undefined);
  const saveBody = (body: Readonly<Record<string, unknown>>) =>
    config.set(BODY, Object.keys(body).length > 0 ? body : undefined);
  return {
    get clientTools() {
      const tools = config.get(TOOLS);
      // Only this module writes the key, from a checked request.
      return Array.isArray(tools) ? (tools as ClientToolSchema[]) : [];
    },
    get body() {
      const body = config.get(BODY);
      return isRecord(body) ? body : undefined;
    },
    accept({ clientTools, custom }) {
      if (clientTools) saveTools(clientTools);
      saveBody(custom);
    },
    acceptTools(clientTools) {
      if (clientTools && clientTools.length > 0) saveTools(clientTools);
    },
    restore({ body, clientTools }) {
      if (body !== undefined) saveBody(body ?? {});
      if (clientTools !== undefined) saveTools(clientTools ?? []);
    },
    clear() {
      saveTools([]);
      saveBody({});
    }
  };
}
