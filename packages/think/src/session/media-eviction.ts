/**
 * Moves large media out of aged messages, in the background: the originals become workspace files, the messages keep markers. Told
 * of every change of the conversation; works on a zero-delay timer, one pass at a time, until nothing is left to do.
 *
 * I1. The newest messages (at least four) are never touched.
 * I2. A file is written before its message; a message that changed meanwhile is left for a later pass.
 * I3. Nothing to do costs nothing: sizes in memory tell, and rows outside the memory window are looked at once.
 * I4. Without a place for the originals nothing is evicted, unless the agent says that they need not be kept.
 */
import type { UIMessage } from "ai";
import type { Emit } from "../observability/events";
import type { Clock } from "../shared/clock";
import { errorText } from "../shared/errors/error-text";
import type { ConfigStore } from "../storage/config-store";
import { evictMedia, type EvictedMedia } from "./evict-media";
import { mediaSettings, type MediaEvictionSetting, type MediaSettings } from "./media-settings";
import type { SessionScope, SizedMessage } from "./path-reader";
import { OlderMedia, type OlderRows } from "./older-media";

/** Where originals go. */
export interface AttachmentFiles {
  /** The content, or null when there is no such file. */
  read(path: string): Promise<string | null>;
  write(path: string, content: string): Promise<void>;
}

/** The conversation, as far as the eviction needs it. */
export interface EvictionSource extends OlderRows {
  /** Nothing is loaded for the eviction's sake. */
  readonly isLoaded: boolean;
  /** Messages in memory that are older than the newest `keep` and have at least `minBytes`, oldest first. */
  large(keep: number, minBytes: number): SizedMessage[];
  read(id: string): UIMessage | undefined;
  /** Replaces a message unless it has changed since it was read. Returns its new size. */
  rewrite(before: UIMessage, after: UIMessage): number | undefined;
}

export interface MediaEvictionOptions {
  readonly path: EvictionSource;
  readonly config: ConfigStore;
  /** Whose messages they are; may change. */
  readonly scope: SessionScope;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly setting: () => MediaEvictionSetting;
  /** Undefined when the agent has no workspace. */
  readonly files: () => AttachmentFiles | undefined;
}

/** What one pass did. */
export interface EvictionTotals {
  readonly messages: number;
  readonly parts: number;
  readonly bytes: number;
  readonly externalizedBytes: number;
}

export class MediaEviction {
  readonly #options: MediaEvictionOptions;
  readonly #older: OlderMedia;
  /** Rows without anything to evict, with the size they had. */
  readonly #examined = new Map<string, number>();
  /** The session that the above is about. */
  #sessionId: string;
  #scheduled = false;
  #running = false;
  /** A change came while a pass was running. */
  #missed = false;

  constructor(options: MediaEvictionOptions) {
    this.#options = options;
    this.#older = new OlderMedia(options.path, options.config, options.scope);
    this.#sessionId = options.scope.id;
  }

  /** Starts a pass soon, if there is work. Cheap: call it after every change. */
  schedule(): void {
    this.#follow();
    if (this.#running) this.#missed = true;
    if (this.#running || this.#scheduled || !this.#hasWork()) return;
    this.#scheduled = true;
    this.#options.clock.setTimer(() => {
      this.#scheduled = false;
      this.run().catch((error: unknown) =>
        console.warn(`[Think] Evicting media failed: ${errorText(error)}`)
      );
    }, 0);
  }

  /** One pass. Null when eviction is off, running, not possible for lack of a workspace, or the conversation is not in memory. */
  async run(): Promise<EvictionTotals | null> {
    const settings = this.#settings();
    if (!settings || this.#running || !this.#options.path.isLoaded) return null;
    this.#running = true;
    this.#missed = false;
    const totals = { messages: 0, parts: 0, bytes: 0, externalizedBytes: 0 };
    let settled = 0;
    try {
      const { scope } = this.#options;
      const sessionId = scope.id;
      for (const row of this.#candidates(settings).slice(0, settings.maxRows)) {
        // Files take time; meanwhile the rows may have become those of a session that is not active.
        if (scope.id !== sessionId) break;
        settled += (await this.#tryRow(row, settings, totals)) ? 1 : 0;
      }
      this.#older.checkpoint(settings);
    } finally {
      this.#running = false;
    }
    if (totals.messages > 0) this.#options.emit("chat:media:evicted", totals);
    // Without progress the rest has to wait for a change: what failed would only fail again.
    if (settled > 0 || this.#missed) this.schedule();
    return totals;
  }

  #follow(): void {
    const { id } = this.#options.scope;
    if (id === this.#sessionId) return;
    this.#sessionId = id;
    this.#examined.clear();
    this.#older.forget();
  }

  /** Returns whether the row needs no further look. */
  async #tryRow(
    row: SizedMessage,
    settings: MediaSettings,
    totals: Writable<EvictionTotals>
  ): Promise<boolean> {
    try {
      const before = this.#options.path.read(row.id);
      const evicted = before && evictMedia(before, settings);
      const bytes = evicted?.files.length ? await this.#replace(before, evicted, settings) : row.bytes;
      if (bytes === undefined) return false;
      this.#examined.set(row.id, bytes);
      this.#older.settle(row.id);
      if (evicted?.files.length) count(totals, evicted, settings);
      return true;
    } catch (error) {
      console.warn(
        `[Think] The media of message ${row.id} could not be evicted; it is tried again later: ${errorText(error)}`
      );
      return false;
    }
  }

  async #replace(
    before: UIMessage | undefined,
    evicted: EvictedMedia,
    { externalize }: MediaSettings
  ): Promise<number | undefined> {
    const files = externalize ? this.#options.files() : undefined;
    for (const { path, content } of files ? evicted.files : []) await files?.write(path, content);
    return before && this.#options.path.rewrite(before, evicted.message);
  }

  #candidates(settings: MediaSettings): SizedMessage[] {
    return [...this.#older.rows(settings), ...this.#largeInMemory(settings)];
  }

  #hasWork(): boolean {
    const settings = this.#settings();
    if (!settings || !this.#options.path.isLoaded) return false;
    return this.#older.hasWork(settings) || this.#largeInMemory(settings).length > 0;
  }

  #largeInMemory({ keep, minPartBytes }: MediaSettings): SizedMessage[] {
    return this.#options.path
      .large(keep, minPartBytes)
      .filter(({ id, bytes }) => this.#examined.get(id) !== bytes);
  }

  #settings(): MediaSettings | undefined {
    const settings = mediaSettings(this.#options.setting());
    return settings?.externalize && !this.#options.files() ? undefined : settings;
  }
}

type Writable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

function count(
  totals: Writable<EvictionTotals>,
  { files, bytes }: EvictedMedia,
  { externalize }: MediaSettings
): void {
  totals.messages += 1;
  totals.parts += files.length;
  totals.bytes += bytes;
  if (externalize) totals.externalizedBytes += bytes;
}
