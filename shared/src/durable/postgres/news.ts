import * as z from "zod";
import { logBug } from "../../core/async/log-bug.ts";
import { jsonOf } from "../../core/json.ts";
import type { Log } from "../../core/runs/engine.ts";
import type { Live } from "../live.ts";
import type { Database } from "./database.ts";
import { type Followed, followedSchema } from "./shared-progress.ts";

/** How long news is collected before other processes are told. */
const collectMs = 3;
const idsPerMessage = 100;

/** What changed: these runs, or any, where some news may have been missed. */
export type Changed = {
  readonly runIds: readonly string[] | "any";
  /** Whether there may be runs to claim. */
  readonly isClaimable: boolean;
};

const message = z.object({
  runIds: z.array(z.string()),
  isClaimable: z.boolean(),
  followed: followedSchema.exactOptional(),
});

const anything: Changed = { runIds: "any", isClaimable: true };

/**
 * Tells the processes that share the store which runs have changed. NOTIFY is outside of the
 * commits, since inside it would let them happen only one after the other. News may be lost with a
 * connection, so everything looks for itself now and then: `pollMs` apart.
 */
export class News {
  readonly #database: Database;
  readonly #live: Live;
  readonly #log: Log;
  readonly #pollMs: number;
  readonly #onNews: (changed: Changed) => void;
  readonly #onFollowed: (followed: Followed) => void;
  readonly #told = new Set<string>();
  #isClaimable = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** What is being told; it would be cut off by closing the connections. */
  #sending: Promise<unknown> = Promise.resolve();
  #poll: ReturnType<typeof setInterval> | undefined;
  #listening: Promise<void> | undefined;
  #stopListening: (() => Promise<void>) | undefined;
  #isClosed = false;
  readonly #untold: (error: unknown) => void;

  constructor(options: {
    database: Database;
    live: Live;
    log: Log;
    pollMs: number;
    onNews: (changed: Changed) => void;
    /** Another process follows these runs. */
    onFollowed: (followed: Followed) => void;
  }) {
    this.#database = options.database;
    this.#live = options.live;
    this.#log = options.log;
    this.#pollMs = options.pollMs;
    this.#onNews = options.onNews;
    this.#onFollowed = options.onFollowed;
    this.#untold = logBug(this.#log, "News could not be told to other processes.");
  }

  /** A run has changed: it has events up to `last`, or something else of it did. */
  tell(runId: string, { last = 0, isClaimable = false } = {}): void {
    this.#live.committed(runId, last);
    if (this.#isClosed) return;
    this.#told.add(runId);
    this.#isClaimable ||= isClaimable;
    this.#timer ??= setTimeout(() => this.#send(), collectMs);
  }

  /** Resolves once this process hears news, or looks for itself because it cannot. */
  listen(): Promise<void> {
    this.#poll ??= setInterval(() => this.#notify(anything), this.#pollMs);
    this.#listening ??= this.#listen().catch((error) => {
      this.#listening = undefined;
      if (!this.#isClosed)
        this.#log.warn({ err: error }, "News of other processes cannot be received; polling instead.");
    });
    return this.#listening;
  }

  /** Runs that were left to this process may be claimed by any. */
  freed(): void {
    if (this.#isClosed) return;
    this.#isClaimable = true;
    this.#timer ??= setTimeout(() => this.#send(), collectMs);
  }

  /** Tells the other processes which runs this one follows. */
  async follows(followed: Followed): Promise<void> {
    if (this.#isClosed) return;
    const text = JSON.stringify({ runIds: [], isClaimable: false, followed });
    await this.#database.query("SELECT pg_notify($1, $2)", [this.#channel, text]).catch(this.#untold);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#poll);
    this.#send();
    await this.#sending;
    await this.#stopListening?.().catch(() => undefined);
  }

  async #listen(): Promise<void> {
    this.#stopListening = await this.#database.listen({
      channel: this.#channel,
      beat: JSON.stringify({ runIds: [], isClaimable: false } satisfies Changed),
      hear: (text) => this.#hear(text),
      onListening: () => this.#notify(anything),
    });
    if (this.#isClosed) await this.#stopListening();
  }

  /**
   * What this release does not understand may be news of any run: everybody in the database may
   * speak on the channel, and what throws here ends the process.
   */
  #hear(text: string): void {
    const { data } = message.safeParse(jsonOf(text));
    if (data?.followed === undefined) this.#notify(data ?? anything);
    else this.#onFollowed(data.followed);
  }

  #notify(changed: Changed): void {
    if (this.#isClosed) return;
    if (changed.runIds === "any") this.#live.anyChanged();
    else for (const runId of changed.runIds) this.#live.committed(runId, 0);
    this.#onNews(changed);
  }

  #send(): void {
    this.#sending = Promise.all([this.#sending, this.#tellOthers()]);
  }

  async #tellOthers(): Promise<void> {
    this.#timer = undefined;
    const ids = [...this.#told];
    const isClaimable = this.#isClaimable;
    this.#told.clear();
    this.#isClaimable = false;
    // Even without ids there may be something to claim.
    for (let at = 0; at < Math.max(ids.length, isClaimable ? 1 : 0); at += idsPerMessage) {
      const text = JSON.stringify({ runIds: ids.slice(at, at + idsPerMessage), isClaimable } satisfies Changed);
      await this.#database.query("SELECT pg_notify($1, $2)", [this.#channel, text]).catch(this.#untold);
    }
  }

  get #channel(): string {
    return `manyhands_${this.#database.schema}`;
  }
}
