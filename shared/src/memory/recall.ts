import { AppError } from "../core/errors.ts";
import { type MemoryEntry, type Recall, type Recalled, sourcesOfMemory } from "../core/memory.ts";
import type { Usage } from "../core/model.ts";
import { closeness, type Embedder } from "../models/embeddings.ts";
import { estimateText } from "../models/tokens.ts";
import type { MemoryStore } from "./memory-store.ts";

/** How much of a memory a task is shown. */
export type RecallBounds = { readonly entries: number; readonly tokens: number; readonly similarity: number };

/** What finding entries needs. */
export type RecallDeps = {
  readonly store: MemoryStore;
  readonly bounds: RecallBounds;
  /** Whether this principal has a memory. */
  isOn(principal: string): boolean;
  /** Finds entries by their meaning; by their words alone if left out. */
  readonly embedder?: Embedder | undefined;
};

/** The share of a model's window that recalled entries may fill. */
const windowShare = 0.05;
/** How much of a long message says what it is about. */
const maxAsked = 4_000;
const embeddingMs = 5_000;
/** Candidates of each way of finding. */
const candidates = 30;
/** Of reciprocal rank fusion: how little the first places differ. */
const fusion = 60;

/**
 * Finds what a task should know: the preferences, then the entries that its words or their meaning
 * lead to, as many as the bounds allow.
 */
export function createRecall({ store, bounds, isOn, embedder }: RecallDeps): Recall {
  return async ({ principal, words: said, known, contextWindow, signal }) => {
    if (!isOn(principal) || bounds.entries === 0) return undefined;
    const all = await store.list(principal);
    if (all.length === 0) return undefined;
    const there = await known();
    const isKnown = ({ id, text }: MemoryEntry) => there.some((one) => one.id === id && one.text === text);
    const open = all.filter((entry) => !isKnown(entry));
    if (open.length === 0) return undefined;
    const words = said.slice(0, maxAsked).toWellFormed();
    const others = open.filter(({ kind }) => kind !== "preference");
    const byWords = (await store.search(principal, words, candidates)).map(({ id }) => id);
    const meaning = embedder && others.length > 0 ? await byMeaning(principal, words, others) : undefined;
    const ranked = fuse([byWords, meaning?.ids ?? []]).flatMap((id) => others.find((entry) => entry.id === id) ?? []);
    const wanted = [...open.filter(({ kind }) => kind === "preference"), ...ranked];
    const entries = fitting(wanted, contextWindow);
    if (entries.length === 0 && meaning?.usage === undefined && meaning?.trouble === undefined) return undefined;
    return {
      entries: entries.map(({ id, kind, text }) => ({ id, kind, text })),
      takenIn: sourcesOfMemory(entries),
      by: meaning === undefined || meaning.trouble !== undefined ? "words" : "meaning",
      ...(meaning?.usage && { usage: meaning.usage }),
      ...(meaning?.trouble !== undefined && { trouble: meaning.trouble }),
    } satisfies Recalled;

    async function byMeaning(principal: string, words: string, entries: readonly MemoryEntry[]): Promise<Meaning> {
      if (embedder === undefined || words.trim() === "") return { ids: [] };
      const within = AbortSignal.any([signal, AbortSignal.timeout(embeddingMs)]);
      try {
        return await nearest({ store, embedder, similarity: bounds.similarity }, principal, words, entries, within);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof AppError) return { ids: [], trouble: error.message };
        if (within.aborted) return { ids: [], trouble: `The embeddings took longer than ${embeddingMs / 1000} s.` };
        throw error;
      }
    }
  };

  function fitting(wanted: readonly MemoryEntry[], contextWindow: number): readonly MemoryEntry[] {
    let left = Math.min(bounds.tokens, Math.floor(contextWindow * windowShare));
    const chosen: MemoryEntry[] = [];
    for (const entry of wanted) {
      const size = estimateText(entry.text) + 10;
      if (size > left || chosen.length === bounds.entries) continue;
      left -= size;
      chosen.push(entry);
    }
    return chosen;
  }
}

type Meaning = { readonly ids: readonly string[]; readonly usage?: Usage; readonly trouble?: string };

/** The entries closest to the words; vectors are made once for each entry and model, and kept. */
async function nearest(
  { store, embedder, similarity }: Pick<RecallDeps, "store"> & { embedder: Embedder; similarity: number },
  principal: string,
  words: string,
  entries: readonly MemoryEntry[],
  signal: AbortSignal,
): Promise<Meaning> {
  const kept = await store.vectors(principal, embedder.model);
  const without = entries.filter(({ id }) => !kept.has(id));
  const { vectors, usage } = await embedder.embed([words, ...without.map(({ text }) => text)], signal);
  const [asked, ...made] = vectors;
  if (asked === undefined) return { ids: [] };
  const fresh = without.flatMap(({ id, changedAt }, at) => {
    const vector = made[at];
    return vector === undefined ? [] : [{ id, changedAt, vector }];
  });
  if (fresh.length > 0) await store.keepVectors(principal, embedder.model, fresh);
  const known = new Map([...kept, ...fresh.map(({ id, vector }) => [id, vector] as const)]);
  const close = entries
    .map(({ id }) => ({ id, by: closeness(asked, known.get(id) ?? new Float32Array()) }))
    .filter(({ by }) => by >= similarity)
    .toSorted((one, other) => other.by - one.by);
  return { ids: close.slice(0, candidates).map(({ id }) => id), usage };
}

/** One order of several, by reciprocal ranks. */
function fuse(lists: readonly (readonly string[])[]): readonly string[] {
  const scores = new Map<string, number>();
  for (const list of lists)
    for (const [at, id] of list.entries()) scores.set(id, (scores.get(id) ?? 0) + 1 / (fusion + at));
  return [...scores].toSorted(([, one], [, other]) => other - one).map(([id]) => id);
}
