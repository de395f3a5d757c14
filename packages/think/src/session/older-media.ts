/**
 * Finds large rows outside the memory window, without loading them, and remembers how far it has looked: in memory for the life of
 * the object, durably when the way was long. Used by the media eviction.
 */
import { isRecord } from "../shared/json";
import type { ConfigStore } from "../storage/config-store";
import type { MediaSettings } from "./media-settings";
import { MESSAGE_LIMITS } from "../shared/limits";
import type { SessionScope, SizedMessage } from "./path-reader";

export interface OlderRows {
  /** The newest message of the path that is not in memory. */
  readonly olderId: string | null;
  readonly current: { readonly messages: readonly unknown[] };
  olderSizes(): Iterable<SizedMessage>;
}

/** Key in `think_config` under which the place is remembered for a session. */
export function mediaExaminedKey(sessionId: string): string {
  return sessionId === "" ? "mediaExamined" : `mediaExamined:${sessionId}`;
}

export class OlderMedia {
  readonly #path: OlderRows;
  readonly #config: ConfigStore;
  readonly #scope: SessionScope;
  /** Large rows still to be looked into, oldest first. */
  readonly #found = new Map<string, SizedMessage>();
  #lookedFrom = "";
  /** The newest row that has been looked at; those before it have been too. */
  #top: string | undefined;
  #walked = 0;

  constructor(path: OlderRows, config: ConfigStore, scope: SessionScope) {
    this.#path = path;
    this.#config = config;
    this.#scope = scope;
  }

  /** Another session is active: what is known is not about its rows. */
  forget(): void {
    this.#found.clear();
    this.#lookedFrom = "";
    this.#top = undefined;
    this.#walked = 0;
  }

  /** Whether `rows` would have to read, or has rows left over. */
  hasWork(settings: MediaSettings): boolean {
    return (
      this.#found.size > 0 || (this.#path.olderId !== null && this.#place(settings) !== this.#lookedFrom)
    );
  }

  /** Large rows that have not been settled. */
  rows(settings: MediaSettings): SizedMessage[] {
    if (this.#path.olderId !== null && this.#place(settings) !== this.#lookedFrom) this.#look(settings);
    return [...this.#found.values()];
  }

  settle(id: string): void {
    this.#found.delete(id);
  }

  /** Remembers durably that all rows have been settled, when looking at them again would cost more than the one row this writes. */
  checkpoint({ minPartBytes }: MediaSettings): void {
    if (this.#found.size > 0 || this.#walked < MESSAGE_LIMITS.mediaCheckpointRows) return;
    this.#config.set(mediaExaminedKey(this.#scope.id), { id: this.#top, minPartBytes });
    this.#walked = 0;
  }

  #look(settings: MediaSettings): void {
    const known = new Set([this.#top, this.#stored(settings)]);
    const found: SizedMessage[] = [];
    let position = 0;
    let top: string | undefined;
    for (const row of this.#path.olderSizes()) {
      if (known.has(row.id)) break;
      this.#walked += 1;
      position += 1;
      if (position <= this.#protected(settings)) continue;
      top ??= row.id;
      if (row.bytes >= settings.minPartBytes) found.push(row);
    }
    for (const row of found.toReversed()) this.#found.set(row.id, row);
    this.#top = top ?? this.#top;
    this.#lookedFrom = this.#place(settings);
  }

  /** Rows outside the window that still count as recent, because the window holds fewer than must be kept. */
  #protected({ keep }: MediaSettings): number {
    return Math.max(0, keep - this.#path.current.messages.length);
  }

  #place(settings: MediaSettings): string {
    return `${this.#path.olderId} ${this.#protected(settings)} ${settings.minPartBytes}`;
  }

  #stored({ minPartBytes }: MediaSettings): string | undefined {
    const value = this.#config.get(mediaExaminedKey(this.#scope.id));
    return isRecord(value) && value.minPartBytes === minPartBytes && typeof value.id === "string"
      ? value.id
      : undefined;
  }
}
