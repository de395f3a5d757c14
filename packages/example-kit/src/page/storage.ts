/** `localStorage` that never throws: private windows and full disks fall back to memory for the visit. */
const memory = new Map<string, string>();

export function load(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? memory.get(key);
  } catch {
    return memory.get(key);
  }
}

export function save(key: string, value: string): void {
  memory.set(key, value);
  try {
    localStorage.setItem(key, value);
  } catch {
    // Kept in memory above; the only loss is that a reload forgets it.
  }
}
