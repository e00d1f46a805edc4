import { createInterface } from "node:readline";
import { isCancel, text } from "@clack/prompts";
import { type Style, styleOf } from "../terminal/style.ts";

/** The streams and signals of the process, as commands use them. */
export interface Terminal {
  readonly style: Style;
  /** Whether someone can be asked. */
  readonly interactive: boolean;
  /** Results. */
  out(text: string): void;
  /** What is said about the work; never part of a result. */
  say(line: string): void;
  /** Asks a person; undefined when they would rather not, or input has ended. */
  ask(question: string): Promise<string | undefined>;
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
      if (interactive) {
        const answer = await text({ message: question });
        return isCancel(answer) ? undefined : answer;
      }
      piped ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]();
      const { value, done } = await piped.next();
      return done === true ? undefined : value;
    },
  };
}
