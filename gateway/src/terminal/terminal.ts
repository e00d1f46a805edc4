import { fstatSync } from "node:fs";
import { createInterface } from "node:readline";
import { addAbortSignal } from "node:stream";
import { AppError } from "manyhands/internal/core/errors";
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
  ask(question: string): Promise<string | undefined>;
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
    async ask(question) {
      if (interactive) return askAtKeyboard(question);
      piped ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]();
      const { value, done } = await piped.next();
      return done === true ? undefined : value;
    },
    read: readPiped,
  };
}

/**
 * Asks at the keyboard. Ctrl-D in an empty line closes the input, of which the prompt takes no
 * notice: it would wait for ever.
 */
async function askAtKeyboard(question: string): Promise<string | undefined> {
  const { isCancel, text } = await import("@clack/prompts");
  const closed = new AbortController();
  let answered = false;
  const onPause = () => setImmediate(() => answered || closed.abort());
  process.stdin.once("pause", onPause);
  try {
    const answer = await text({ message: question, signal: closed.signal });
    return isCancel(answer) ? undefined : answer;
  } finally {
    answered = true;
    process.stdin.off("pause", onPause);
  }
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
