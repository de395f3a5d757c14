/**
 * What recovery keeps in the object's key-value storage, under the names the published package uses: one record per incident, and the
 * flag that a turn is being recovered. Nothing is stored at rest.
 */
import { RECOVERY_LIMITS } from "../shared/limits";
import { parseIncident, type Incident } from "./incident";

/** The key-value side of the object's storage; synchronous. */
export interface KeyValue {
  get(key: string): unknown;
  put(key: string, value: unknown): void;
  delete(key: string): void;
  /** Keys that begin with `prefix`, with their values. */
  list(prefix: string): readonly (readonly [string, unknown])[];
}

/** The live "recovering" flag. */
export interface RecoveringFlag {
  readonly requestId?: string | undefined;
  readonly at: number;
}

const INCIDENT = "cf:chat-recovery:incident:";
const RECOVERING = "cf:chat:recovering";

const PROGRESS = "cf:chat-recovery:progress";

/** Where the published package's counter of durable work stands: its incidents compare with it. */
export function progressOfPublished(kv: KeyValue): number {
  const count = kv.get(PROGRESS);
  return typeof count === "number" ? count : 0;
}

const keyOf = (incidentId: string) => `${INCIDENT}${encodeURIComponent(incidentId)}`;

export class IncidentStore {
  readonly #kv: KeyValue;
  #flag: RecoveringFlag | null | undefined;

  constructor(kv: KeyValue) {
    this.#kv = kv;
  }

  get(incidentId: string): Incident | null {
    return parseIncident(this.#kv.get(keyOf(incidentId)));
  }

  put(incident: Incident): void {
    // A turn that is done needs no record.
    if (incident.status === "completed") this.#kv.delete(keyOf(incident.incidentId));
    else this.#kv.put(keyOf(incident.incidentId), incident);
  }

  /** Every incident that is stored. */
  list(): Incident[] {
    return this.#kv.list(INCIDENT).flatMap(([, value]) => parseIncident(value) ?? []);
  }

  /** Removes what nobody touched for an hour, and what cannot be read. */
  sweep(now: number): void {
    for (const [key, value] of this.#kv.list(INCIDENT)) {
      const incident = parseIncident(value);
      if (!incident || now - incident.lastAttemptAt > RECOVERY_LIMITS.incidentAgeMs) this.#kv.delete(key);
    }
  }

  /** The flag, unless it is too old to be believed. */
  recovering(now: number): RecoveringFlag | null {
    const flag = this.#stored();
    return flag && now - flag.at < RECOVERY_LIMITS.recoveringAgeMs ? flag : null;
  }

  /** Whether the flag is set, however old it is. */
  get hasFlag(): boolean {
    return this.#stored() !== null;
  }

  #stored(): RecoveringFlag | null {
    if (this.#flag === undefined) this.#flag = parseFlag(this.#kv.get(RECOVERING));
    return this.#flag;
  }

  setRecovering(flag: RecoveringFlag | null): void {
    if (flag) this.#kv.put(RECOVERING, flag);
    else if (this.#flag !== null) this.#kv.delete(RECOVERING);
    this.#flag = flag;
  }

  /** The conversation was cleared. */
  clear(): void {
    for (const [key] of this.#kv.list(INCIDENT)) this.#kv.delete(key);
    this.setRecovering(null);
  }
}

function parseFlag(value: unknown): RecoveringFlag | null {
  if (typeof value !== "object" || value === null || !("at" in value) || typeof value.at !== "number")
    return null;
  const requestId = "requestId" in value && typeof value.requestId === "string" ? value.requestId : undefined;
  return { at: value.at, requestId };
}
