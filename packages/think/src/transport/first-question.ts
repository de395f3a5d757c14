/**
 * The older client may write its first question before the socket is open; the list it is greeted with then takes the question off its
 * page, and only a list brings it back. The current client is protected by `connect: true`, and a list costs as much as the history
 * weighs: so it goes only to connections that show themselves as the older client, by asking to resume without a probe id.
 *
 * Question and resume request come in either order.
 */
export class FirstQuestion {
  readonly #older = new Set<string>();
  readonly #asked = new Set<string>();

  /** A resume request arrived. Returns whether the connection is owed the list. */
  resumes(connectionId: string, probeId: string | undefined): boolean {
    if (probeId !== undefined || this.#older.has(connectionId)) return false;
    this.#older.add(connectionId);
    return this.#asked.has(connectionId);
  }

  /** A question arrived. Returns whether the connection is owed the list. */
  asks(connectionId: string): boolean {
    if (this.#asked.has(connectionId)) return false;
    this.#asked.add(connectionId);
    return this.#older.has(connectionId);
  }

  leave(connectionId: string): void {
    this.#older.delete(connectionId);
    this.#asked.delete(connectionId);
  }
}
