import * as z from "zod";
import { logBug } from "../../core/async/log-bug.ts";
import { jsonOf } from "../../core/json.ts";
import type { Log } from "../../core/runs/engine.ts";
import type { RunEvent } from "../../core/runs/run.ts";
import type { Live } from "../live.ts";
import type { Database } from "./database.ts";

/** How long progress is collected before it is sent. */
const collectMs = 40;
/** How often this process says what it follows, and how long others remember that. */
const sayEveryMs = 5_000;
const rememberMs = 15_000;
/** Most followed runs that are remembered, and most items that wait for one process. */
const maxRemembered = 20_000;
const maxWaiting = 1_000;
/** PostgreSQL refuses a payload of 8,000 bytes. */
const longestPayload = 7_900;
const idsPerMessage = 100;

/** Which runs a process follows, and the channel where it wants their progress. */
export const followedSchema = z.object({ to: z.string().regex(/^[a-z0-9_]{1,63}$/), runIds: z.array(z.string()) });

/** Runs that a process follows. */
export type Followed = z.output<typeof followedSchema>;

/** `before`: it was shown before the process that it is sent to followed the run. */
const sentSchema = z.object({
  runId: z.string(),
  after: z.number(),
  event: z.looseObject({ type: z.string() }),
  before: z.literal(true).exactOptional(),
});

/** What shared progress needs. */
export type SharedProgressOptions = {
  readonly database: Database;
  readonly live: Live;
  readonly log: Log;
  /** Whether this process executes the run, so that its followers here get its progress anyway. */
  readonly isHere: (runId: string) => boolean;
  /** Tells all processes what this one follows. */
  readonly say: (followed: Followed) => Promise<void>;
};

/**
 * Takes progress from the process that executes a run to those where somebody follows it: each says
 * now and then what it follows, and gets only that. It may be lost, by contract: what waits to be
 * sent is bounded, and nobody waits for it to be sent.
 */
export class SharedProgress {
  readonly #options: SharedProgressOptions;
  readonly #channel = `manyhands_progress_${crypto.randomUUID().replaceAll("-", "")}`;
  /** The runs followed here, with the number of their followers. */
  readonly #followed = new Map<string, number>();
  /** The channels of the processes that follow a run, with the time until which they count. */
  readonly #wanted = new Map<string, Map<string, number>>();
  readonly #waiting = new Map<string, string[]>();
  #listening: Promise<(() => Promise<void>) | undefined> | undefined;
  #saying: ReturnType<typeof setInterval> | undefined;
  #sender: ReturnType<typeof setTimeout> | undefined;
  #isSending = false;
  #isClosed = false;

  constructor(options: SharedProgressOptions) {
    this.#options = options;
  }

  /** Somebody here follows the run; what it returns ends that. */
  async follow(runId: string): Promise<() => void> {
    const before = this.#followed.get(runId) ?? 0;
    this.#followed.set(runId, before + 1);
    this.#saying ??= setInterval(() => void this.#say([...this.#followed.keys()]), sayEveryMs);
    this.#saying.unref?.();
    this.#listening ??= this.#listen();
    await this.#listening;
    if (before === 0) void this.#say([runId]);
    return () => this.#leave(runId);
  }

  /** Another process follows these runs: one that did not before is sent what was shown already. */
  followedElsewhere({ to, runIds }: Followed): void {
    if (to === this.#channel) return;
    const until = performance.now() + rememberMs;
    for (const runId of runIds) {
      const channels = this.#wanted.get(runId) ?? new Map<string, number>();
      if ((channels.get(to) ?? 0) < performance.now()) this.#sendShown(runId, to);
      // The runs that nobody has followed for longest are forgotten first.
      this.#wanted.delete(runId);
      this.#wanted.set(runId, channels.set(to, until));
    }
    for (const [runId, channels] of this.#wanted) {
      const isOver = [...channels.values()].every((end) => end < performance.now());
      if (!isOver && this.#wanted.size <= maxRemembered) break;
      this.#wanted.delete(runId);
    }
  }

  /** Passes on progress of a run that this process executes, shown after the event `after`. */
  show(runId: string, after: number, event: RunEvent): void {
    const channels = this.#wanted.get(runId);
    if (channels === undefined || this.#isClosed) return;
    const item = JSON.stringify({ runId, after, event });
    for (const [channel, until] of channels) if (until >= performance.now()) this.#queue(channel, item);
    this.#sendSoon();
  }

  #sendShown(runId: string, channel: string): void {
    const { after, events } = this.#options.live.shownOf(runId) ?? { after: 0, events: [] };
    for (const event of events) this.#queue(channel, JSON.stringify({ runId, after, event, before: true }));
    this.#sendSoon();
  }

  #queue(channel: string, item: string): void {
    if (Buffer.byteLength(item) > longestPayload - 2) return;
    const waiting = this.#waiting.get(channel) ?? [];
    if (waiting.length === maxWaiting) waiting.shift();
    waiting.push(item);
    this.#waiting.set(channel, waiting);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#saying);
    clearTimeout(this.#sender);
    await (await this.#listening)?.().catch(() => undefined);
  }

  #leave(runId: string): void {
    const left = (this.#followed.get(runId) ?? 1) - 1;
    if (left > 0) this.#followed.set(runId, left);
    else this.#followed.delete(runId);
  }

  /** Without a connection there is no progress of other processes. */
  async #listen(): Promise<(() => Promise<void>) | undefined> {
    const { database, log } = this.#options;
    try {
      return await database.listen({ channel: this.#channel, beat: "[]", hear: (text) => this.#received(text) });
    } catch (error) {
      if (!this.#isClosed) log.warn({ err: error }, "Progress of other processes cannot be received.");
      this.#listening = undefined;
      return undefined;
    }
  }

  #received(text: string): void {
    if (this.#isClosed) return;
    const items = z.array(sentSchema).safeParse(jsonOf(text)).data ?? [];
    for (const { runId, after, event, before } of items) {
      if (!this.#options.isHere(runId)) this.#options.live.progress(runId, event as RunEvent, after, before);
    }
  }

  async #say(runIds: readonly string[]): Promise<void> {
    const { isHere, say } = this.#options;
    const elsewhere = runIds.filter((runId) => !isHere(runId));
    for (let at = 0; at < elsewhere.length && !this.#isClosed; at += idsPerMessage)
      await say({ to: this.#channel, runIds: elsewhere.slice(at, at + idsPerMessage) });
  }

  #sendSoon(): void {
    if (this.#isSending || this.#isClosed || this.#waiting.size === 0) return;
    this.#sender ??= setTimeout(() => void this.#send(), collectMs);
  }

  async #send(): Promise<void> {
    this.#sender = undefined;
    this.#isSending = true;
    const untold = logBug(this.#options.log, "Progress could not be told to other processes.");
    const all = [...this.#waiting];
    this.#waiting.clear();
    for (const [channel, items] of all)
      for (const payload of payloadsOf(items))
        await this.#options.database.query("SELECT pg_notify($1, $2)", [channel, payload]).catch(untold);
    this.#isSending = false;
    this.#sendSoon();
  }
}

/** The items in as few lists as fit. */
function payloadsOf(items: readonly string[]): readonly string[] {
  const lists: string[][] = [];
  let bytes = longestPayload;
  for (const item of items) {
    const size = Buffer.byteLength(item) + 1;
    if (bytes + size > longestPayload - 1) {
      lists.push([]);
      bytes = 0;
    }
    lists.at(-1)?.push(item);
    bytes += size;
  }
  return lists.map((list) => `[${list.join(",")}]`);
}
