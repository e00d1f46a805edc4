import { stat } from "node:fs/promises";
import { AppError, messageOf } from "../../core/errors.ts";
import { type Log, terminalStatuses } from "../../core/runs/engine.ts";
import type { Conversation, Deletion, DeletionRequest, Housekeeping } from "../../core/runs/housekeeping.ts";
import type { Live } from "../live.ts";
import { storageFailure } from "./disk/storage-error.ts";
import { vacuum } from "./disk/vacuum.ts";
import type { RunRow } from "./tables/runs-table.ts";
import type { Tables } from "./tables/tables.ts";
import type { Writer } from "./writer.ts";

/** What deleting and copying needs; `path` is the store's. */
export type HousekeepingDeps = {
  readonly path: string;
  readonly writer: Writer;
  readonly live: Live;
  readonly log: Log;
};

/** Rewriting a larger store would keep others from writing for seconds. Bytes. */
const maxScrubbed = 64 * 1024 ** 2;

/** The engine's deletions and copies. Each deletion is one transaction. */
export function housekeeping({ path, writer, live, log }: HousekeepingDeps): Housekeeping {
  return {
    async delete(request) {
      const deletion = await writer.offer((tables) => remove(tables, request));
      // Their followers find nothing any more.
      for (const id of deletion.runs) live.committed(id, 0);
      return deletion;
    },
    expired: ({ endedBy, acceptedBy, limit, after }) =>
      writer.read(({ deletion }) => {
        const found = deletion.expired(endedBy, acceptedBy, placeOf(after), limit);
        const last = found[limit - 1];
        const runIds = found.map(({ id }) => id);
        return { runIds, ...(last !== undefined && { next: JSON.stringify({ at: last.updated_at, id: last.id }) }) };
      }),
    async deleteJournals({ endedBy, limit, after = "0", dryRun = false }) {
      const look = ({ deletion }: Tables) => {
        const runs = deletion.ended(endedBy, Number(after), limit);
        const last = runs[limit - 1];
        return { runs: runs.filter(({ hasSteps }) => hasSteps), ...(last && { next: String(last.n) }) };
      };
      const found = await writer.read(look);
      if (dryRun || found.runs.length === 0) return { ...found, runs: found.runs.length };
      return await writer.offer((tables) => {
        const { runs, ...rest } = look(tables);
        for (const { n } of runs) tables.deletion.removeSteps(n);
        return { ...rest, runs: runs.length };
      });
    },
    async filesInUse(hashes) {
      const used = new Set(await writer.read(({ files }) => files.used(hashes)));
      const open = hashes.filter((hash) => !used.has(hash));
      if (open.length === 0) return used;
      // A step may have stored a file that no event names yet. One run at a time, so that the event
      // loop goes on.
      for (const n of await writer.read(({ deletion }) => deletion.unfinished())) {
        const texts = await writer.read(({ deletion }) => deletion.texts(n));
        for (const text of texts) for (const hash of open) if (text.includes(hash)) used.add(hash);
        await Bun.sleep(0);
      }
      return used;
    },
    async scrub({ evenLarge = false } = {}) {
      try {
        const unscrubbed = await writer.read(({ deletion }) => deletion.unscrubbed());
        const isDue = unscrubbed > 0 && (evenLarge || (await stat(path)).size <= maxScrubbed);
        if (isDue) {
          await vacuum({ path });
          await writer.offer(({ deletion }) => deletion.addUnscrubbed(-unscrubbed));
        }
        return (await writer.emptyLog()) && (isDue || unscrubbed === 0);
      } catch (error) {
        log.warn({ err: error }, "What was deleted could not be removed from the run store's files yet.");
        return false;
      }
    },
    async backup(file) {
      try {
        await vacuum({ path, into: file, release: true });
      } catch (cause) {
        throw notCopied(file, cause);
      }
    },
  };
}

function notCopied(file: string, cause: unknown): AppError {
  const reason = storageFailure(cause) ?? messageOf(cause);
  return new AppError(
    "storage_unavailable",
    `The run store could not be copied to ${file}: ${reason}. There has to be room for a whole copy; a store that is damaged itself needs an earlier backup in its place.`,
    { cause },
  );
}

function placeOf(after: string | undefined) {
  return after === undefined ? { at: -1, id: "" } : JSON.parse(after);
}

function remove(tables: Tables, { runIds, principal, endedBy, emptied, thorough = false }: DeletionRequest): Deletion {
  const { deletion, files } = tables;
  const rows = family(tables, runIds, principal);
  for (const row of rows.values()) {
    if (!terminalStatuses.includes(row.status) || row.updated_at > (endedBy ?? Number.POSITIVE_INFINITY))
      throw unfinished(row, runIds);
  }
  const owned = new Map<string, Set<string>>();
  const conversations = new Map<string, Conversation>();
  for (const { n, kind, principal, context_id: contextId } of rows.values()) {
    const hashes = owned.get(principal) ?? new Set();
    for (const hash of deletion.filesOf(n)) hashes.add(hash);
    owned.set(principal, hashes);
    conversations.set(JSON.stringify([kind, principal, contextId]), { kind, principal, contextId });
    deletion.remove(n);
  }
  for (const [owner, hashes] of owned) for (const hash of hashes) deletion.disown(hash, owner);
  const all = [...new Set([...owned.values()].flatMap((hashes) => [...hashes]))];
  const left = new Set(files.used(all));
  const empty = [...conversations.values()].filter((conversation) => deletion.isEmpty(conversation));
  if (thorough) deletion.addUnscrubbed(1);
  emptied?.(empty);
  return {
    runs: [...rows.keys()],
    emptied: empty,
    files: all.filter((hash) => !left.has(hash)),
    endedAt: Math.max(...[...rows.values()].map((row) => row.updated_at)),
  };
}

/** These runs, and all that they asked for. */
function family(tables: Tables, runIds: readonly string[], principal: string | undefined): Map<string, RunRow> {
  const rows = new Map<string, RunRow>();
  const waiting = runIds.map((id) => {
    const row = principal === undefined ? tables.runs.byId(id) : tables.runs.ofPrincipal(id, principal);
    if (row === null) throw new AppError("not_found", `There is no run ${id}.`);
    return row;
  });
  for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
    if (rows.has(row.id)) continue;
    rows.set(row.id, row);
    waiting.push(...tables.deletion.asked(row));
  }
  return rows;
}

function unfinished({ id }: RunRow, named: readonly string[]): AppError {
  const which = named.includes(id) ? `The run ${id}` : `The run ${id}, which it asked for,`;
  return new AppError("conflict", `${which} has not ended. Cancel it first.`);
}
