import { AppError, messageOf } from "../../../core/errors.ts";
import type { EngineName, Hit, SearchEngine, SearchQuery } from "./engine.ts";
import { normalisedUrl } from "./normalised-url.ts";

/** A hit with the engine that found it. */
export type FoundHit = Hit & { readonly source: EngineName };

/** An engine that returned nothing, and why. */
export type Failure = { readonly engine: EngineName; readonly reason: string };

/** The outcome of querying the engines. */
export type SearchOutcome = { readonly found: readonly FoundHit[]; readonly failures: readonly Failure[] };

const allMs = 25_000;

/**
 * Queries one engine after the other until `count` different pages are found, none is left, or 25 s
 * have passed. An engine that fails costs its own deadline and nothing else. Rejects only with the
 * signal's reason.
 */
export async function searchAll(
  engines: readonly SearchEngine[],
  query: SearchQuery,
  signal: AbortSignal,
  withinMs = allMs,
): Promise<SearchOutcome> {
  const deadline = AbortSignal.timeout(withinMs);
  const both = AbortSignal.any([signal, deadline]);
  const found = new Map<string, FoundHit>();
  const failures: Failure[] = [];
  for (const engine of engines) {
    if (found.size >= query.count || deadline.aborted) break;
    try {
      const hits = await engine.search(query, both);
      if (hits.length === 0) failures.push({ engine: engine.name, reason: "no results" });
      for (const hit of hits) {
        const key = normalisedUrl(hit.url);
        if (key !== undefined && !found.has(key)) found.set(key, { ...hit, source: engine.name });
      }
    } catch (error) {
      signal.throwIfAborted();
      failures.push({ engine: engine.name, reason: deadline.aborted ? "no time was left" : reasonOf(error) });
    }
  }
  return { found: [...found.values()].slice(0, query.count), failures };
}

/** A page that cannot be read may throw anything; it still counts as one engine's failure. */
function reasonOf(error: unknown): string {
  if (error instanceof AppError) return error.message;
  return `answered in a form that is not known (${messageOf(error)})`;
}
