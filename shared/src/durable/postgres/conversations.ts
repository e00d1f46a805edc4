import { createKeyedQueue } from "../../core/async/keyed-queue.ts";
import { logBug } from "../../core/async/log-bug.ts";
import { AppError } from "../../core/errors.ts";
import type { Conversations, FolderOf, HeldConversation } from "../../core/runs/conversations.ts";
import type { Log } from "../../core/runs/engine.ts";
import type { Conversation } from "../../core/runs/housekeeping.ts";
import type { Database } from "./database.ts";
import type { RunRow } from "./run-row.ts";

/** What holding conversations needs. */
export type ConversationsOptions = {
  readonly database: Database;
  readonly log: Log;
  /** The name under which this process owns runs now. */
  readonly worker: () => string | undefined;
  /** Runs that were left to this process may be claimed by others. */
  readonly onFree: () => void;
};

const firstPauseMs = 50;
const longestPauseMs = 1_000;
const storeAgainMs = 5_000;
const longestStorePauseMs = 5 * 60_000;
const maxGone = 100;

type Entry = {
  /** Runs of it that are executed here. */
  runs: number;
  /** How often its files could not be stored. */
  failures: number;
  held?: { readonly worker: string; readonly conversation: FolderOf; readonly answer: HeldConversation };
};

/** The conversations of the runs that this process executes. */
export class HeldConversations implements Conversations {
  readonly #options: ConversationsOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #queue = createKeyedQueue();
  #store: Parameters<Conversations["onIdle"]>[0] = async () => true;
  #isClosed = false;

  constructor(options: ConversationsOptions) {
    this.#options = options;
  }

  onIdle(store: Parameters<Conversations["onIdle"]>[0]): void {
    this.#store = store;
  }

  /** A run is executed here from now on. */
  enter(row: Pick<RunRow, "kind" | "principal" | "context_id">): void {
    const key = keyOf(conversationOf(row));
    const entry = this.#entries.get(key) ?? { runs: 0, failures: 0 };
    entry.runs += 1;
    this.#entries.set(key, entry);
  }

  /** It is not any more. Resolves once its conversation was given up, unless others are of it. */
  async leave(row: Pick<RunRow, "kind" | "principal" | "context_id">): Promise<void> {
    const key = keyOf(conversationOf(row));
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    entry.runs -= 1;
    if (entry.runs === 0) await this.#queue(key, () => this.#giveUp(key, entry));
  }

  hold(conversation: FolderOf): Promise<HeldConversation> {
    const key = keyOf(conversation);
    return this.#queue(key, async () => {
      for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
        const entry = this.#entries.get(key);
        if (entry === undefined || entry.runs === 0)
          throw new AppError("unavailable", "No run of this conversation is executed here.");
        const worker = this.#options.worker();
        if (worker !== undefined) {
          if (entry.held?.worker === worker) return entry.held.answer;
          const answer = await this.#ask(conversation, worker);
          if (answer !== undefined) {
            entry.held = { worker, conversation, answer };
            return answer;
          }
        }
        await Bun.sleep(pauseMs);
      }
    });
  }

  async keep({ kind, principal, contextId }: Conversation, epoch: number, checkpoint: string): Promise<boolean> {
    const rows = await this.#options.database.query(
      `UPDATE conversations SET checkpoint = $5, used_at = now_ms()
       WHERE kind = $1 AND principal = $2 AND context_id = $3 AND epoch = $4::bigint RETURNING 1`,
      [kind, principal, contextId, epoch, checkpoint],
    );
    return rows.length > 0;
  }

  async unused(before: number, limit: number): Promise<readonly string[]> {
    const rows = await this.#options.database.query<{ folder: string }>(
      `SELECT folder FROM conversations WHERE used_at < $1::bigint
         AND NOT EXISTS (SELECT FROM workers WHERE id = holder) ORDER BY used_at LIMIT $2::bigint`,
      [before, limit],
    );
    return rows.map(({ folder }) => folder);
  }

  async forget(folder: string, before: number): Promise<boolean> {
    const [row] = await this.#options.database.query<{ done: boolean }>(
      "SELECT forget_conversation($1, $2::bigint) AS done",
      [folder, before],
    );
    return row?.done === true;
  }

  async gone(): Promise<readonly string[]> {
    const rows = await this.#options.database.query<{ folder: string }>(
      `SELECT folder FROM gone_folders LIMIT ${maxGone}`,
    );
    return rows.map(({ folder }) => folder);
  }

  async cleared(folder: string): Promise<void> {
    await this.#options.database.query("DELETE FROM gone_folders WHERE folder = $1", [folder]);
  }

  async unknown(folders: readonly string[]): Promise<ReadonlySet<string>> {
    const { database } = this.#options;
    const rows = await database.query<{ folder: string }>(
      `SELECT asked.folder FROM unnest($1::text[]) AS asked (folder)
       WHERE NOT EXISTS (SELECT FROM conversations WHERE conversations.folder = asked.folder)`,
      [database.sql.array([...folders], "TEXT")],
    );
    return new Set(rows.map(({ folder }) => folder));
  }

  close(): void {
    this.#isClosed = true;
  }

  async #ask(conversation: FolderOf, worker: string): Promise<HeldConversation | undefined> {
    const { database } = this.#options;
    const asked = JSON.stringify({ ...conversation, worker });
    const [row] = await database.query<{ answer: string }>("SELECT hold_conversation($1::text) AS answer", [asked], {
      keep: true,
    });
    const answer: HeldConversation | Record<string, never> = JSON.parse(row?.answer ?? "{}");
    return "epoch" in answer ? (answer as HeldConversation) : undefined;
  }

  /** Stores the files of a conversation, then lets others have it. */
  async #giveUp(key: string, entry: Entry): Promise<void> {
    const { held } = entry;
    if (entry.runs > 0) return;
    if (held === undefined) return void this.#entries.delete(key);
    const { database, log, onFree } = this.#options;
    const { conversation, worker, answer } = held;
    const isStored = await this.#store(conversation, answer.epoch).catch((error) => {
      log.warn(
        { err: error, folder: conversation.folder },
        "A workspace could not be stored; it stays here until it is.",
      );
      return false;
    });
    if (entry.runs > 0) return;
    if (!isStored) {
      // Once this process is gone, whoever takes it over knows that something may be lost.
      if (this.#isClosed) return;
      entry.failures += 1;
      const pauseMs = Math.min(storeAgainMs * 2 ** (entry.failures - 1), longestStorePauseMs);
      setTimeout(() => void this.#queue(key, () => this.#giveUp(key, entry)), pauseMs).unref();
      return;
    }
    this.#entries.delete(key);
    await database
      .query("UPDATE conversations SET holder = NULL WHERE folder = $1 AND holder = $2 AND epoch = $3::bigint", [
        ...[conversation.folder, worker, answer.epoch],
      ])
      .catch(logBug(log, "A conversation could not be given up; it stays with this process."));
    onFree();
  }
}

function conversationOf(row: Pick<RunRow, "kind" | "principal" | "context_id">): Conversation {
  return { kind: row.kind, principal: row.principal, contextId: row.context_id };
}

function keyOf({ kind, principal, contextId }: Conversation): string {
  return JSON.stringify([kind, principal, contextId]);
}
