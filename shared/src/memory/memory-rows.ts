import type { MemoryEntry, MemoryKind } from "../core/memory.ts";

/** The vector of an entry as it was at `changedAt`. */
export type EntryVector = { readonly id: string; readonly changedAt: number; readonly vector: Float32Array };

/** Where entries are: a file of the home, or a table that machines share. */
export interface MemoryRows {
  /** The principal's entries, the last changed first. */
  all(principal: string): Promise<readonly MemoryEntry[]>;
  /** False if the principal has `most` entries already. */
  insert(principal: string, entry: MemoryEntry, terms: readonly string[], most: number): Promise<boolean>;
  /** Replaces the entry of this id, and forgets its vector; false if there is none. */
  update(principal: string, entry: MemoryEntry, terms: readonly string[]): Promise<boolean>;
  /**
   * Removes these entries, or all, from the disk too; how many there were.
   */
  remove(principal: string, ids?: readonly string[]): Promise<number>;
  /** The ids of entries that have some of these terms, best first. */
  match(principal: string, terms: readonly string[], most: number): Promise<readonly string[]>;
  /** The vectors that this model made, by entry. */
  vectors(principal: string, model: string): Promise<ReadonlyMap<string, Float32Array>>;
  /** Keeps vectors of entries that have not changed since. */
  keepVectors(principal: string, model: string, vectors: readonly EntryVector[]): Promise<void>;
  close(): Promise<void>;
}

/** An entry as a row: PostgreSQL gives its long numbers as texts, SQLite has no truth values. */
export type EntryRow = {
  readonly id: string;
  readonly kind: string;
  readonly text: string;
  readonly sources: string;
  readonly author: string;
  readonly is_public: boolean | number;
  readonly created: number | string;
  readonly changed: number | string;
};

/** The columns of a row, in the order of `valuesOf`. */
export const entryColumns = "id, kind, text, sources, author, is_public, created, changed";

/** The values of an entry's row. */
export function valuesOf({ id, kind, text, sources, by, isPublic, createdAt, changedAt }: MemoryEntry) {
  return [id, kind, text, JSON.stringify(sources), by, isPublic, createdAt, changedAt] as const;
}

/** The entry of a row. */
export function entryOf({ id, kind, text, sources, author, is_public, created, changed }: EntryRow): MemoryEntry {
  return {
    ...{ id, kind: kind as MemoryKind, text, sources: JSON.parse(sources), by: author as MemoryEntry["by"] },
    ...{ isPublic: Boolean(is_public), createdAt: Number(created), changedAt: Number(changed) },
  };
}
