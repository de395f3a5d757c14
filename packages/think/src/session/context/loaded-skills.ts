/**
 * Which skills the conversation holds, as `label:key`. The history is the truth: it is read when someone first asks, again when it
 * has become another one, and a skill is unloaded by taking its text out of it.
 */
import type { UIMessage } from "ai";
import { skillId, skillResults, withoutSkill, type SkillResult } from "./skill-results";

/** The history as skills need it. */
export interface SkillHistory {
  /** Assistant messages of the active path, oldest first. */
  loadResults(): Iterable<UIMessage>;
  /** Stores a changed message; no status frame, no compaction. */
  rewrite(message: UIMessage): void;
}

interface Skill {
  readonly label: string;
  readonly key: string;
}

export class LoadedSkills {
  readonly #history: SkillHistory;
  #loaded: Map<string, Skill> | undefined;
  /** Unloaded, but the text is in a message that is still being streamed, so it can be taken out only later. */
  readonly #pending = new Map<string, Skill>();

  constructor(history: SkillHistory) {
    this.#history = history;
  }

  /** Every loaded skill, oldest first, of the labels that `isSkill` accepts. */
  list(isSkill: (label: string) => boolean): Skill[] {
    return [...this.#restored().values()].filter(({ label }) => isSkill(label));
  }

  has(label: string, key: string): boolean {
    return this.#restored().has(skillId(label, key));
  }

  loaded(label: string, key: string): void {
    const id = skillId(label, key);
    this.#pending.delete(id);
    // A skill that is loaded again belongs at the end, where a restart would put it.
    this.#restored().delete(id);
    this.#restored().set(id, { label, key });
  }

  /** Takes a skill out of the history; false when it is not loaded. */
  unload(label: string, key: string): boolean {
    if (!this.#restored().delete(skillId(label, key))) return false;
    if (!this.#mark(label, key)) this.#pending.set(skillId(label, key), { label, key });
    return true;
  }

  /** Takes out what was unloaded in the turn that loaded it; call it between turns. */
  settle(): void {
    this.#restored();
    for (const { label, key } of this.#pending.values()) this.#mark(label, key);
    this.#pending.clear();
  }

  /** Forgets the skills of a block that is gone; the history stays. */
  forget(label: string): void {
    for (const skills of [this.#loaded, this.#pending]) {
      for (const [id, skill] of skills ?? []) if (skill.label === label) skills?.delete(id);
    }
  }

  /** The history was cleared, or is another one: it is read anew when someone asks. */
  reset(): void {
    this.#loaded = undefined;
    this.#pending.clear();
  }

  #mark(label: string, key: string): boolean {
    let latest: UIMessage | undefined;
    for (const message of this.#history.loadResults()) latest = withoutSkill(message, label, key) ?? latest;
    if (latest) this.#history.rewrite(latest);
    return latest !== undefined;
  }

  #restored(): Map<string, Skill> {
    if (this.#loaded) return this.#loaded;
    this.#loaded = new Map();
    for (const message of this.#history.loadResults()) {
      for (const result of skillResults(message)) this.#replay(this.#loaded, result);
    }
    return this.#loaded;
  }

  #replay(skills: Map<string, Skill>, { label, key, kind }: SkillResult): void {
    const id = skillId(label, key);
    if (kind === "loaded") {
      skills.delete(id);
      skills.set(id, { label, key });
      this.#pending.delete(id);
      return;
    }
    // Still loaded when the model unloads it: no marker was written, because both happened in one turn.
    if (skills.delete(id) && kind === "unloaded") this.#pending.set(id, { label, key });
  }
}
