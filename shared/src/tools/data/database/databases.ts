import { dirname } from "node:path";
import { closeAll } from "../../../core/async/close-all.ts";
import { createKeyedQueue } from "../../../core/async/keyed-queue.ts";
import { AppError } from "../../../core/errors.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { admitSql } from "./admit-sql.ts";
import { type DatabaseProcess, startDatabase } from "./database-process.ts";
import type { DatabaseReply, DatabaseRequest, QueryResult } from "./database-protocol.ts";
import { moveIn, partsOf } from "./staged-copies.ts";

/** The limits of a statement. */
export type QueryOptions = {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  /** Characters of JSON after which further rows are only counted. */
  readonly maxCharacters?: number;
};

/**
 * Databases of conversations, each a separate process in the conversation's workspace: started when
 * needed, ended when idle.
 */
export interface Databases {
  /**
   * Runs a statement over the workspace's files. Statements of one conversation run in turn.
   * Rejects with `rejected` as `admitSql` does or with the database's own message, with `timeout`,
   * and with `unavailable` when the process ended, most often for lack of memory.
   */
  query(workspace: Workspace, sql: string, options: QueryOptions): Promise<QueryResult>;
  /** Ends the conversation's database at once. */
  release(workspace: Workspace): Promise<void>;
  close(): Promise<void>;
}

type Slot = { readonly process: DatabaseProcess; idle: ReturnType<typeof setTimeout> | undefined };

const defaults = { timeoutMs: 60_000, maxCharacters: 200_000 };

/** `idleMs` is how long a database stays open without requests; its tables are lost with it. */
export function createDatabases({ idleMs = 5 * 60_000 }: { readonly idleMs?: number } = {}): Databases {
  const slots = new Map<string, Slot>();
  const inTurn = createKeyedQueue();

  async function drop(root: string): Promise<void> {
    const slot = slots.get(root);
    slots.delete(root);
    clearTimeout(slot?.idle);
    await slot?.process.end();
  }

  function slotOf(root: string): Slot {
    const slot = slots.get(root) ?? { process: startDatabase(root, { beside: dirname(root) }), idle: undefined };
    slots.set(root, slot);
    clearTimeout(slot.idle);
    return slot;
  }

  return {
    query: (workspace, sql, { signal, ...bounds }) =>
      inTurn(workspace.root, async () => {
        signal.throwIfAborted();
        await admitSql(workspace, sql);
        signal.throwIfAborted();
        const slot = slotOf(workspace.root);
        const abort = () => void drop(workspace.root);
        signal.addEventListener("abort", abort);
        try {
          const reply = await answer(slot.process, workspace, { sql, ...defaults, ...bounds });
          slot.idle = setTimeout(abort, idleMs);
          slot.idle.unref();
          if (reply.ok) return reply;
          const { timeoutMs } = { ...defaults, ...bounds };
          if (reply.timeout)
            throw new AppError("timeout", `The query was stopped at its limit of ${timeoutMs / 1000} s.`);
          throw new AppError("rejected", readable(reply.message));
        } catch (error) {
          signal.throwIfAborted();
          if (!slot.process.alive()) await drop(workspace.root);
          throw error;
        } finally {
          signal.removeEventListener("abort", abort);
        }
      }),
    release: ({ root }) => drop(root),
    close: () => closeAll([...slots.keys()].map((slot) => () => drop(slot))),
  };
}

/**
 * The reply to SQL, whose files come into the workspace one by one as they are written: a later
 * statement may read them. Of several results it is the last that says anything.
 */
async function answer(
  process: DatabaseProcess,
  workspace: Workspace,
  request: DatabaseRequest,
): Promise<DatabaseReply> {
  let shown: QueryResult | undefined;
  let left = request.timeoutMs;
  for (const { sql, copy } of partsOf(request.sql, process.staging)) {
    const begun = performance.now();
    const reply = await process.ask({ ...request, sql, timeoutMs: left });
    left -= performance.now() - begun;
    if (!reply.ok)
      return copy === undefined ? reply : { ...reply, message: reply.message.replaceAll(copy.staged, copy.path) };
    if (copy !== undefined) await moveIn(workspace, copy);
    const { ok, ...result } = reply;
    const last: QueryResult = shown === undefined || result.instead !== "nothing" ? result : shown;
    const notes = [...new Set([...(shown?.notes ?? []), ...result.notes])];
    shown = { ...last, notes, files: [...(shown?.files ?? []), ...result.files] };
  }
  if (shown === undefined) throw new Error("SQL without a part");
  return { ok: true, ...shown };
}

const maxLines = 12;
const longestLine = 300;

/** Replaces the advice to read the file as UTF-16 or to leave such rows out. */
const convert =
  "Name its encoding, as its words look right: FROM read_csv('IN.csv', encoding = 'gb18030') (Chinese; also big5, shift_jis, euc-kr, windows-1251, windows-1253 …). COPY (FROM …) TO 'OUT.csv' makes a UTF-8 file of it for the other tools.";

/** `count(*) months` is read as a number of months. */
const unitAsName = /syntax error at or near "((?:year|quarter|month|week|day|hour|minute|second)s?)"/i;

/**
 * The database's message without the lines of data it repeats and the advice that does not apply
 * here.
 */
function readable(message: string): string {
  const lines = message.replace(/\nDatabase is launched in in-memory mode.*/s, "").split("\n");
  const encoded = /not utf-8 encoded/i.test(message);
  const [first, ...advice] = encoded ? lines.filter((line) => line.startsWith("Possible Solution")) : [];
  const told = lines.flatMap((line) => (line === first ? convert : advice.includes(line) ? [] : line));
  const unit = unitAsName.exec(message)?.[1];
  return [
    ...told,
    ...(unit === undefined ? [] : [`"${unit}" is a unit of time here: as a name it needs AS before it.`]),
  ]
    .slice(0, maxLines)
    .map((line) => (line.length > longestLine ? `${line.slice(0, longestLine)}…` : line))
    .join("\n");
}
