import type { Engine, ListFilter, RunRecord } from "../core/engine.ts";

type Page = Awaited<ReturnType<Engine["list"]>>;

const countedAtOnce = 200;

/**
 * A page of the runs for which something holds that only their events tell. Every run of the filter is looked at for the count, so that
 * it should be one for few: those under way, say.
 */
export async function listWhere(
  engine: Pick<Engine, "list">,
  filter: ListFilter,
  holds: (run: RunRecord) => Promise<boolean>,
): Promise<Page> {
  const fitting = async (runs: readonly RunRecord[]) => {
    const kept = await Promise.all(runs.map(holds));
    return runs.filter((_, at) => kept[at]);
  };
  const found: RunRecord[] = [];
  let cursor = filter.cursor;
  do {
    // No longer than what is missing, so that the page ends where the last run of it is.
    const page = await engine.list({ ...filter, limit: filter.limit - found.length, ...(cursor && { cursor }) });
    found.push(...(await fitting(page.runs)));
    cursor = page.nextCursor;
  } while (cursor !== undefined && found.length < filter.limit);
  const { cursor: _, ...all } = filter;
  let total = 0;
  for (let next: string | undefined | null = null; next !== undefined; ) {
    const page: Page = await engine.list({ ...all, limit: countedAtOnce, ...(next !== null && { cursor: next }) });
    total += (await fitting(page.runs)).length;
    next = page.nextCursor;
  }
  return { runs: found, total, ...(cursor !== undefined && { nextCursor: cursor }) };
}
