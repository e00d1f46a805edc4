import { addGrams } from "../../core/runs/search-grams.ts";
import type { Writer } from "./writer.ts";

/** Runs entered in one transaction, and events read before others have their turn. */
const runsAtOnce = 50;
const eventsAtOnce = 64;

/** `Engine.indexWords`: reads a bounded number of runs, then enters them in one transaction. */
export async function indexWords(writer: Writer): Promise<number> {
  const runs = await writer.read(({ search }) => search.notIndexed(runsAtOnce), { early: true });
  const entries: [number, Set<number>][] = [];
  for (const n of runs) {
    const grams = new Set<number>();
    for (let after: number | undefined = 0; after !== undefined; ) {
      const from: number = after;
      const events = await writer.read(({ search }) => search.texts(n, from, eventsAtOnce), { early: true });
      for (const { text } of events) addGrams(text, grams);
      after = events[eventsAtOnce - 1]?.seq;
      await new Promise((resolve) => setImmediate(resolve));
    }
    entries.push([n, grams]);
  }
  if (entries.length > 0)
    await writer.offer(({ search }) => {
      for (const [n, grams] of entries) search.enter(n, grams);
    });
  return runs.length;
}
