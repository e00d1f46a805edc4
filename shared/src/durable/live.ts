import type { FollowItem } from "../core/runs/engine.ts";
import type { RunEvent } from "../core/runs/run.ts";
import { Shown } from "./shown.ts";

/** How many progress items are kept for a reader; older ones are dropped. */
const progressKept = 1000;

/** Notifies the followers in this process of news, and passes progress on to them. */
export class Live {
  readonly #followers = new Map<string, Set<Follower>>();
  readonly #ofAll = new Set<Follower>();
  /** Of the runs that this process executes. */
  readonly #shown = new Map<string, Shown>();

  /**
   * Begins to execute a run whose last event has this number: what it shows is kept until the next
   * event. What this returns ends that.
   */
  execute(runId: string, lastEvent: number): () => void {
    const shown = new Shown(lastEvent);
    this.#shown.set(runId, shown);
    return () => {
      if (this.#shown.get(runId) === shown) this.#shown.delete(runId);
    };
  }

  /**
   * A follower; with `shownAfter`, it also gets what was shown since the last event, from there on.
   */
  follow(runId: string, shownAfter?: number): Follower {
    const leave = () => {
      const all = this.#followers.get(runId);
      all?.delete(follower);
      if (all?.size === 0) this.#followers.delete(runId);
    };
    const follower = new Follower(leave, shownAfter !== undefined);
    const all = this.#followers.get(runId) ?? new Set();
    this.#followers.set(runId, all.add(follower));
    const shown = this.#shown.get(runId);
    if (shown !== undefined && shownAfter !== undefined && shown.after >= shownAfter)
      for (const event of shown.events) follower.show(event, shown.after);
    return follower;
  }

  /** What a run that this process executes has shown since its last event. */
  shownOf(runId: string): Pick<Shown, "after" | "events"> | undefined {
    return this.#shown.get(runId);
  }

  /** A follower that is woken by every run, and gets no progress. */
  followAll(): Follower {
    const follower = new Follower(() => this.#ofAll.delete(follower));
    this.#ofAll.add(follower);
    return follower;
  }

  /** Events up to `seq` of this run are committed. */
  committed(runId: string, seq: number): void {
    this.#shown.get(runId)?.committed(seq);
    for (const follower of this.#followers.get(runId) ?? []) follower.wake(seq);
    for (const follower of this.#ofAll) follower.wake(0);
  }

  /** Any run may have changed. */
  anyChanged(): void {
    for (const all of this.#everyone()) for (const follower of all) follower.wake(0);
  }

  /**
   * Shows progress; `after` is the number of the event it came after, if another process says it.
   * Of what was shown `before` this process followed the run, those that come back have seen all.
   */
  progress(runId: string, event: RunEvent, after?: number, before = false): void {
    this.#shown.get(runId)?.add(event);
    for (const follower of this.#followers.get(runId) ?? [])
      if (!before || follower.begins) follower.show(event, after);
  }

  /** Ends every follower. */
  close(): void {
    for (const all of this.#everyone()) for (const follower of all) follower.end();
  }

  #everyone(): readonly Set<Follower>[] {
    return [...this.#followers.values(), this.#ofAll];
  }
}

/** One reader's place in the live stream. */
export class Follower {
  readonly #leave: () => void;
  /** Whether its reader has not followed the run before. */
  readonly begins: boolean;
  #progress: { readonly after: number; readonly event: RunEvent }[] = [];
  #lastSeq = 0;
  #changed = false;
  #ended = false;
  #resume: (() => void) | undefined;

  constructor(leave: () => void, begins = false) {
    this.#leave = leave;
    this.begins = begins;
  }

  /** Progress shown from here on comes after the event numbered `seq`. */
  reached(seq: number): void {
    this.#lastSeq = Math.max(this.#lastSeq, seq);
  }

  wake(seq: number): void {
    this.reached(seq);
    this.#changed = true;
    this.#resume?.();
  }

  show(event: RunEvent, after = this.#lastSeq): void {
    // Its step has ended by now, so that what it says is void or said in full.
    if (after < this.#lastSeq) return;
    if (this.#progress.length === progressKept) this.#progress.shift();
    this.#progress.push({ after, event });
    this.#resume?.();
  }

  /** Takes the progress shown before the event numbered `seq` was committed. */
  takeProgress(seq: number): FollowItem[] {
    if (this.#progress.length === 0) return [];
    const later = this.#progress.findIndex((item) => item.after >= seq);
    const taken = this.#progress.splice(0, later === -1 ? this.#progress.length : later);
    return taken.map(({ event }) => ({ kind: "progress", event }));
  }

  /**
   * Resolves with true at the next news, or with false once the signal aborts or the engine closes.
   */
  async news(signal: AbortSignal): Promise<boolean> {
    if (!this.#changed && this.#progress.length === 0 && !this.#ended && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#resume = resolve;
      signal.addEventListener("abort", this.#resume, { once: true });
      await promise;
      signal.removeEventListener("abort", this.#resume);
      this.#resume = undefined;
    }
    this.#changed = false;
    return !this.#ended && !signal.aborted;
  }

  /** Whether the engine was closed. */
  get hasEnded(): boolean {
    return this.#ended;
  }

  end(): void {
    this.#ended = true;
    this.#resume?.();
  }

  leave(): void {
    this.#leave();
  }
}
