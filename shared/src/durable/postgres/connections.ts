import { SQL } from "bun";
import { abortable } from "../../core/async/within.ts";

/** Which connections a process has. */
export type ConnectionsOptions = {
  readonly url: string;
  /** Most that statements share; a session and what listens have their own. */
  readonly max: number;
  /** What each is told at its beginning. */
  readonly settings: Readonly<Record<string, string>>;
  /** How long the server may leave a statement unanswered. */
  readonly silenceMs: number;
};

/** What is listened to on a channel. */
export type Listening = {
  readonly channel: string;
  /** A text without meaning: hearing it shows that the connection still works. */
  readonly beat: string;
  readonly hear: (text: string) => void;
  /** Whenever listening has begun, perhaps again. */
  readonly onListening?: () => void;
};

/** A connection of its own, and what it has locked. */
export type Session = {
  readonly unsafe: (text: string, values?: unknown[]) => Promise<{ readonly [column: string]: unknown }[]>;
  /** Gives up its locks and ends it, whether or not the server answers. */
  end(): Promise<void>;
};

type Listener = { readonly what: Listening; leave?: () => Promise<void>; isHeard: boolean; isTold: boolean };

const looksPerSilence = 10;
const looksPerBeat = 5;
const lastAnswerMs = 1_000;

/**
 * The connections of a process. A silent one is given up and replaced: a server that hangs or a
 * network that drops packets ends no connection, and TCP gives one up after many minutes. A
 * statement that waits for its turn does not count, only one that no earlier one keeps waiting.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  #shared: SQL;
  #ears: SQL;
  readonly #listeners = new Set<Listener>();
  readonly #unanswered = new Set<object>();
  #oldest: object | undefined;
  /** How often it was seen. Not for how long: this process may have stood still itself. */
  #looks = 0;
  #untilBeat = looksPerBeat;
  readonly #looking: ReturnType<typeof setInterval>;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#shared = this.#open(options.max);
    this.#ears = this.#open(1);
    this.#looking = setInterval(() => this.#look(), options.silenceMs / looksPerSilence);
    this.#looking.unref();
  }

  /** Those that statements share. */
  get shared(): SQL {
    return this.#shared;
  }

  /** Asks the server; rejects if it stays silent. */
  async ask<T>(statement: (sql: SQL) => PromiseLike<T>): Promise<T> {
    const answered = this.asked();
    try {
      return await statement(this.#shared);
    } finally {
      answered();
    }
  }

  /** The server owes an answer until the returned function is called. */
  asked(): () => void {
    const one = {};
    this.#unanswered.add(one);
    return () => void this.#unanswered.delete(one);
  }

  /**
   * A connection of its own: not given up with the others. Its owner must notice when it goes
   * silent.
   */
  async session(): Promise<Session> {
    const own = this.#open(1);
    const close = () => own.close({ timeout: 0 }).catch(() => undefined);
    try {
      const reserved = await own.reserve();
      return {
        unsafe: (text, values) => reserved.unsafe(text, values),
        async end() {
          const unlocked = reserved.unsafe("SELECT pg_advisory_unlock_all()").catch(() => undefined);
          await Promise.race([unlocked, Bun.sleep(lastAnswerMs)]);
          await close();
        },
      };
    } catch (error) {
      await close();
      throw error;
    }
  }

  /**
   * Hears what is said on a channel, until the returned function is called. Rejects if the server
   * is away or stays silent.
   */
  async listen(what: Listening): Promise<() => Promise<void>> {
    const listener: Listener = { what, isHeard: true, isTold: false };
    try {
      await abortable(this.#begin(listener), AbortSignal.timeout(this.#options.silenceMs));
    } catch (error) {
      this.#listenAnew();
      throw error;
    }
    this.#listeners.add(listener);
    return async () => {
      this.#listeners.delete(listener);
      await listener.leave?.();
    };
  }

  async close(): Promise<void> {
    clearInterval(this.#looking);
    const ended = [this.#shared, this.#ears].map((sql) => sql.close({ timeout: 1 }).catch(() => undefined));
    await Promise.all(ended);
  }

  #open(max: number): SQL {
    const { url, settings } = this.#options;
    return new SQL({ url, max, connectionTimeout: 5, connection: settings });
  }

  #look(): void {
    const [oldest] = this.#unanswered;
    this.#looks = oldest !== undefined && oldest === this.#oldest ? this.#looks + 1 : 0;
    this.#oldest = oldest;
    if (this.#looks >= looksPerSilence) {
      const silent = this.#shared;
      this.#shared = this.#open(this.#options.max);
      this.#looks = 0;
      // What it was asked rejects.
      void silent.close({ timeout: 0 }).catch(() => undefined);
    }
    this.#untilBeat -= 1;
    if (this.#untilBeat > 0) return;
    this.#untilBeat = looksPerBeat;
    this.#beat();
  }

  /** Listens on a new connection if the last beat was sent but not heard. */
  #beat(): void {
    if ([...this.#listeners].some(({ isTold, isHeard }) => isTold && !isHeard)) this.#listenAnew();
    for (const listener of this.#listeners) {
      Object.assign(listener, { isHeard: false, isTold: false });
      const { channel, beat } = listener.what;
      this.ask((sql) => sql.unsafe("SELECT pg_notify($1, $2)", [channel, beat])).then(
        () => {
          listener.isTold = true;
        },
        () => undefined,
      );
    }
  }

  /** On a new connection. */
  #listenAnew(): void {
    void this.#ears.close({ timeout: 0 }).catch(() => undefined);
    this.#ears = this.#open(1);
    for (const listener of this.#listeners) this.#begin(listener).catch(() => undefined);
  }

  async #begin(listener: Listener): Promise<void> {
    const { channel, beat, hear, onListening } = listener.what;
    const heard = (text: string) => {
      listener.isHeard = true;
      if (text !== beat) hear(text);
    };
    const listening = await this.#ears.listen(channel, heard, () => onListening?.());
    listener.leave = () => listening.unlisten();
  }
}
