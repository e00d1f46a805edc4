import { AppError } from "../core/errors.ts";
import { type MemoryEntry, type MemoryKind, memoryKinds } from "../core/memory.ts";
import type { TakenIn } from "../core/taken-in.ts";
import { sanitize } from "../core/text/sanitize.ts";
import type { EntryVector, MemoryRows } from "./memory-rows.ts";
import { termsOf } from "./terms.ts";

/** How much a principal may have remembered. */
export type MemoryBounds = { readonly entries: number; readonly entryCharacters: number };

/** An entry to be remembered. */
export type NewMemory = {
  readonly text: string;
  readonly kind: MemoryKind;
  readonly by: MemoryEntry["by"];
  readonly sources?: TakenIn;
  readonly isPublic?: boolean;
};

/**
 * What is remembered, each principal's apart: nobody finds, reads or counts another's.
 */
export interface MemoryStore {
  /** The principal's entries, the last changed first. */
  list(principal: string): Promise<readonly MemoryEntry[]>;
  /** Rejects with `not_found`. */
  get(principal: string, id: string): Promise<MemoryEntry>;
  /**
   * Remembers it; an entry with this very text and kind is only returned. Rejects with
   * `invalid_input` or `too_large` for the text, with `conflict` if the memory is full.
   */
  add(principal: string, entry: NewMemory): Promise<MemoryEntry>;
  /** Replaces an entry; what is left out stays. Rejects as `add`, and with `not_found`. */
  edit(
    principal: string,
    id: string,
    change: Partial<Omit<NewMemory, "by">> & Pick<NewMemory, "by">,
  ): Promise<MemoryEntry>;
  /** Removes an entry, from the disk too. Rejects with `not_found`. */
  remove(principal: string, id: string): Promise<void>;
  /** Removes all of them; how many there were. */
  clear(principal: string): Promise<number>;
  /** The entries that share words with a text, best first. */
  search(principal: string, text: string, most: number): Promise<readonly MemoryEntry[]>;
  vectors(principal: string, model: string): Promise<ReadonlyMap<string, Float32Array>>;
  keepVectors(principal: string, model: string, vectors: readonly EntryVector[]): Promise<void>;
  close(): Promise<void>;
}

/** How many words of a question are looked for. */
const maxAsked = 60;

/** The entries in these rows. */
export function createMemoryStore(rows: MemoryRows, bounds: MemoryBounds, now: () => number = Date.now): MemoryStore {
  const get = async (principal: string, id: string) => {
    const found = (await rows.all(principal)).find((entry) => entry.id === id);
    if (found === undefined) throw missing(id);
    return found;
  };
  return {
    list: (principal) => rows.all(principal),
    get,
    async add(principal, { text: written, kind, by, sources = [], isPublic = false }) {
      const text = checkText(written, bounds);
      const there = (await rows.all(principal)).find((entry) => entry.text === text && entry.kind === kind);
      if (there !== undefined) return there;
      const at = now();
      const entry = { id: newId(), kind, text, by, sources, isPublic, createdAt: at, changedAt: at };
      if (!(await rows.insert(principal, entry, termsOf(text), bounds.entries)))
        throw new AppError(
          "conflict",
          `The memory is full: it has ${bounds.entries} entries. Replace or remove some, or raise [memory] entries.`,
        );
      return entry;
    },
    async edit(principal, id, { by, ...change }) {
      const before = await get(principal, id);
      const text = change.text === undefined ? before.text : checkText(change.text, bounds);
      const isRewritten = text !== before.text;
      const entry = {
        ...before,
        ...change,
        text,
        // Whoever changes the words answers for them.
        by: isRewritten ? by : before.by,
        sources: change.sources ?? (by === "person" && isRewritten ? [] : before.sources),
        isPublic: change.isPublic ?? (by === "person" && before.isPublic),
        changedAt: Math.max(now(), before.changedAt + 1),
      };
      if (!(await rows.update(principal, entry, termsOf(text)))) throw missing(id);
      return entry;
    },
    async remove(principal, id) {
      if ((await rows.remove(principal, [id])) === 0) throw missing(id);
    },
    clear: (principal) => rows.remove(principal),
    async search(principal, text, most) {
      const terms = termsOf(text).slice(0, maxAsked);
      if (terms.length === 0) return [];
      const [ids, all] = await Promise.all([rows.match(principal, terms, most), rows.all(principal)]);
      return ids.flatMap((id) => all.find((entry) => entry.id === id) ?? []);
    },
    vectors: (principal, model) => rows.vectors(principal, model),
    keepVectors: (principal, model, vectors) => rows.keepVectors(principal, model, vectors),
    close: () => rows.close(),
  };
}

/** Whether it is a kind of entry. */
export function isMemoryKind(kind: string): kind is MemoryKind {
  return memoryKinds.some((one) => one === kind);
}

function checkText(written: string, { entryCharacters }: MemoryBounds): string {
  const text = sanitize(written).trim();
  if (text === "") throw new AppError("invalid_input", "An entry needs a text.");
  if (text.length > entryCharacters)
    throw new AppError(
      "too_large",
      `An entry has at most ${entryCharacters} characters ([memory] entry_characters), and this one ${text.length}.`,
    );
  return text;
}

function missing(id: string): AppError {
  return new AppError("not_found", `There is no entry ${JSON.stringify(id)}.`);
}

function newId(): string {
  return crypto.getRandomValues(new Uint8Array(4)).toHex();
}
