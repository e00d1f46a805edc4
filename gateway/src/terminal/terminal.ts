import { fstatSync } from "node:fs";
import { createInterface } from "node:readline";
import { addAbortSignal } from "node:stream";
import { AppError } from "manyhands/internal/core/errors";
import { type AskOptions, askAtKeyboard, onEscapeKey } from "./keyboard.ts";
import { type Style, styleOf } from "./style.ts";

/** The streams and signals of the process, as commands use them. */
export interface Terminal {
  readonly style: Style;
  /** Whether someone can be asked. */
  readonly interactive: boolean;
  /** Results. */
  out(text: string): void;
  /** Messages about the work; never part of a result. */
  say(line: string): void;
  /** Asks a person; undefined when they decline or input has ended. */
  ask(question: string, options?: AskOptions): Promise<string | undefined>;
  /**
   * Calls `act` for each Esc until the returned function is called; never where nobody is at a
   * keyboard.
   */
  onEscape(act: () => void): () => void;
  /**
   * Everything piped in; undefined when input is a keyboard. With `patienceMs`, also undefined when
   * nothing arrives in that time: the parent program may hold the pipe open and never write.
   * Rejects with `invalid_input` once more than `maxBytes` have come.
   */
  read(maxBytes: number, patienceMs?: number): Promise<Uint8Array | undefined>;
}

/** The terminal of this process. */
export function processTerminal(env: Readonly<Record<string, string | undefined>>): Terminal {
  const interactive = process.stdin.isTTY === true && process.stdout.isTTY === true;
  let piped: AsyncIterator<string> | undefined;
  return {
    style: styleOf(process.stdout, env),
    interactive,
    out: (piece) => void process.stdout.write(piece),
    say: (line) => void process.stderr.write(`${line}\n`),
    onEscape: (act) => (interactive ? onEscapeKey(act) : () => undefined),
    async ask(question, options = {}) {
      if (interactive) return askAtKeyboard(question, options, (line) => void process.stderr.write(`${line}\n`));
      piped ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]();
      const { value, done } = await piped.next();
      return done === true ? undefined : value;
    },
    read: readPiped,
  };
}

async function readPiped(maxBytes: number, patienceMs?: number): Promise<Uint8Array | undefined> {
  const about = fstatSync(0, { throwIfNoEntry: false });
  if (about === undefined || !(about.isFIFO() || about.isFile() || about.isSocket())) return undefined;
  const silent = new AbortController();
  const timer = patienceMs === undefined ? undefined : setTimeout(() => silent.abort(), patienceMs);
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of addAbortSignal(silent.signal, process.stdin)) {
      clearTimeout(timer);
      pieces.push(piece);
      size += piece.length;
      if (size > maxBytes) throw new AppError("invalid_input", `Standard input has more than ${maxBytes / 1e6} MB.`);
    }
  } catch (error) {
    if (!silent.signal.aborted) throw error;
    return undefined;
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(pieces);
}
