/**
 * `AgentRegistry`: the children of an orchestrator, durable, and the gate for clients that want to reach one. Kept in a field of the
 * parent. The children themselves are facets of the Agents SDK.
 *
 * I1. `open` and the gate know only what is registered, so a client can neither wake nor make anything else.
 * I2. Deleting marks the row, wipes the child, removes the row, in this order; calling it again finishes what a crash left.
 */
import type { Agent, DynamicAgentClass, DynamicAgentStub } from "agents";
import { ThinkError } from "../shared/errors/think-error";
import { isRecord } from "../shared/json";
import { ORCHESTRATOR_LIMITS } from "../shared/limits";
import { systemClock, systemIds } from "../shared/system";
import { hostSql } from "../storage/host-sql";
import {
  isStatus,
  RegistryStore,
  STATUSES,
  type AgentRecord,
  type AgentStatus,
  type ListOptions
} from "./registry-store";

/** The members of an agent that the registry uses. */
export type RegistryAgent = Pick<Agent, "sql" | "dynamicAgents" | "hasAgentToolRun">;

/** A child as the Agents SDK names it to `onBeforeSubAgent`. */
export interface ChildAddress {
  readonly className: string;
  readonly name: string;
}

export interface AgentRegistryOptions {
  /** Whether clients may also look at this agent's agent-tool runs, as long as those are retained. Default: true. */
  readonly agentToolRuns?: boolean;
}

export interface RegisterOptions {
  /** The child's name. Default: a new UUID. */
  readonly name?: string;
  /** For people. Default: the name. */
  readonly title?: string;
  /** Default: `"idle"`. */
  readonly status?: AgentStatus;
  /** A few labels as plain JSON. Default: none. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** What may change of a child's record. */
export type AgentChanges = Partial<Pick<AgentRecord, "title" | "status" | "messageCount" | "metadata">>;

/** A class of children, or its name. */
type ClassOrName = { readonly name: string } | string;

/** The children of an agent, in its SQLite, and the gate for clients. Keep one in a field: `new AgentRegistry(this)`. */
export class AgentRegistry {
  readonly #agent: RegistryAgent;
  readonly #store: RegistryStore;
  readonly #agentToolRuns: boolean;

  constructor(agent: RegistryAgent, options: AgentRegistryOptions = {}) {
    this.#agent = agent;
    this.#store = new RegistryStore(hostSql(agent));
    this.#agentToolRuns = options.agentToolRuns ?? true;
  }

  /** Adds a child; one that is registered already stays as it is. The child itself is made when it is first used. */
  register(child: ClassOrName, options: RegisterOptions = {}): AgentRecord {
    const className = nameOfClass(child);
    const name = checkedName(options.name ?? systemIds.next());
    const known = this.#store.get(className, name);
    if (known) return known;
    if (this.#store.isDeleting(className, name)) {
      throw invalid(
        `The child "${name}" is being deleted. Call delete() again to finish that, or use another name.`
      );
    }
    if (this.#store.count() >= ORCHESTRATOR_LIMITS.children) {
      throw invalid(
        `The registry holds ${ORCHESTRATOR_LIMITS.children} children, which is the most. Delete some; for more, use one top-level object each.`
      );
    }
    const now = systemClock.now();
    const { title = name.slice(0, ORCHESTRATOR_LIMITS.titleChars), status = "idle", metadata = {} } = options;
    const record = checked({
      ...{ className, name, title, status, metadata },
      ...{ messageCount: 0, createdAt: now, updatedAt: now }
    });
    this.#store.put(record);
    return record;
  }

  /** A registered child, or undefined. */
  get(child: ClassOrName, name: string): AgentRecord | undefined {
    return isName(name) ? this.#store.get(nameOfClass(child), name) : undefined;
  }

  /** Registered children, newest first. */
  list(options: ListOptions = {}): AgentRecord[] {
    const { limit = ORCHESTRATOR_LIMITS.listed, offset = 0 } = options;
    return this.#store.list({
      ...options,
      limit: Math.min(wholeNumber(limit), ORCHESTRATOR_LIMITS.listedMax),
      offset: wholeNumber(offset)
    });
  }

  /** Changes what is known of a child. */
  update(child: ClassOrName, name: string, changes: AgentChanges): AgentRecord {
    const known = this.#mustKnow(nameOfClass(child), name);
    const { title, status, messageCount, metadata } = { ...known, ...changes };
    const record = checked({
      ...{ ...known, title, status, messageCount, metadata },
      updatedAt: systemClock.now()
    });
    this.#store.put(record);
    return record;
  }

  /** The stub of a registered child, which is made or woken. */
  async open<Child extends Agent>(
    child: DynamicAgentClass<Child>,
    name: string
  ): Promise<DynamicAgentStub<Child>> {
    this.#mustKnow(child.name, name);
    return this.#agent.dynamicAgents.get(child, name);
  }

  /** Deletes a child with its storage and closes its sockets. False when it was not registered. */
  async delete(child: DynamicAgentClass, name: string): Promise<boolean> {
    if (!isName(name)) return false;
    if (!this.#store.get(child.name, name) && !this.#store.isDeleting(child.name, name)) return false;
    this.#store.markDeleting(child.name, name);
    await this.#agent.dynamicAgents.delete(child, name);
    this.#store.remove(child.name, name);
    return true;
  }

  /** Whether clients may reach a child. */
  admits({ className, name }: ChildAddress): boolean {
    if (!isName(name)) return false;
    if (this.#store.get(className, name)) return true;
    return this.#agentToolRuns && this.#agent.hasAgentToolRun(className, name);
  }

  /**
   * The gate: return it from `onBeforeSubAgent`. Undefined lets the client through to the child; everything that is not known is a 404, before
   * anything is woken or made.
   */
  refusal(child: ChildAddress): Response | undefined {
    return this.admits(child) ? undefined : new Response("No such agent", { status: 404 });
  }

  #mustKnow(className: string, name: string): AgentRecord {
    const known = isName(name) ? this.#store.get(className, name) : undefined;
    if (known) return known;
    throw new ThinkError(
      `The registry has no ${className} named ${JSON.stringify(name).slice(0, 80)}. Call register() first.`,
      { code: "agent-unknown" }
    );
  }
}

function nameOfClass(child: ClassOrName): string {
  return typeof child === "string" ? child : child.name;
}

function isName(name: unknown): name is string {
  return (
    typeof name === "string" &&
    name !== "" &&
    name.length <= ORCHESTRATOR_LIMITS.childNameChars &&
    name.isWellFormed() &&
    !name.includes("\0")
  );
}

function checkedName(name: string): string {
  if (isName(name)) return name;
  throw invalid(
    `A child's name is 1 to ${ORCHESTRATOR_LIMITS.childNameChars} characters of valid Unicode without NUL.`
  );
}

function checked(record: AgentRecord): AgentRecord {
  const { title, status, messageCount, metadata } = record;
  if (!isStatus(status)) {
    throw invalid(`A status is one of ${STATUSES.join(", ")}; got ${JSON.stringify(status)?.slice(0, 50)}.`);
  }
  if (typeof title !== "string" || title.length > ORCHESTRATOR_LIMITS.titleChars) {
    throw invalid(`A title is text of at most ${ORCHESTRATOR_LIMITS.titleChars} characters.`);
  }
  if (!Number.isSafeInteger(messageCount) || messageCount < 0) {
    throw invalid("A message count is a whole number, zero or more.");
  }
  const json = isRecord(metadata) ? JSON.stringify(metadata) : undefined;
  if (json === undefined || json.length > ORCHESTRATOR_LIMITS.metadataChars) {
    throw invalid(
      `Metadata is an object with at most ${ORCHESTRATOR_LIMITS.metadataChars} characters of JSON.`
    );
  }
  return record;
}

function wholeNumber(value: number): number {
  return Number.isFinite(value) ? Math.max(0, Math.floor(value)) : 0;
}

function invalid(message: string): ThinkError {
  return new ThinkError(message, { code: "invalid-agent" });
}
