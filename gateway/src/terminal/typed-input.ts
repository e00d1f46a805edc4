import { Readable } from "node:stream";

const esc = "\u001b";
const pasteBegins = `${esc}[200~`;
const pasteEnds = `${esc}[201~`;

/** What a line break of a pasted text looks like while it is edited: a prompt has one line. */
const breakSign = "⏎";

/** After these keys a prompt ends, and what follows is for the next one. */
const lastKeys = "\r\n\u0003\u001a";
const ctrlZ = "\u001a";

/**
 * Asks the terminal to say where a pasted text begins and ends, or to stop doing so.
 */
export function markPastes(on: boolean): void {
  process.stdout.write(`${esc}[?2004${on ? "h" : "l"}`);
}

/**
 * Stops this process as Ctrl-Z does, until it is told to go on; the terminal is as it was found.
 */
export function suspend(): void {
  process.kill(process.pid, "SIGTSTP");
}

/** What is typed, for one prompt. */
export interface TypedInput {
  /** Whether the prompt ended with Ctrl-Z, which it took for Enter. */
  isSuspended(): boolean;
  /** Where the prompt reads keys. */
  readonly input: Readable;
  /** Types as if by hand. */
  type(text: string, key?: { readonly name: string; readonly ctrl: boolean }): void;
  /** Gives back what was typed after the prompt's last key. */
  close(): void;
}

/**
 * The keyboard for one prompt. A pasted text is one piece however many lines it has, and nothing in
 * it acts as a key; what comes after Enter stays for the next prompt.
 */
export function typedInput(): TypedInput {
  const { stdin } = process;
  const input = Object.assign(new Readable({ read: () => undefined }), {
    isTTY: true,
    setRawMode: (on: boolean) => void stdin.setRawMode(on),
  });
  const type: TypedInput["type"] = (text, key) =>
    void input.emit("keypress", text, { name: "", ctrl: false, meta: false, shift: false, sequence: text, ...key });
  let pasted: string | undefined;
  let isOver = false;
  let isSuspended = false;
  let rest = "";
  const take = (text: string): void => {
    if (text === "") return;
    if (isOver) rest += text;
    else if (pasted !== undefined) takePasted(pasted + text);
    else takeTyped(text);
  };
  const takePasted = (text: string): void => {
    const end = text.indexOf(pasteEnds);
    pasted = end < 0 ? text : undefined;
    if (end < 0) return;
    type(onOneLine(bytesOf(text.slice(0, end)).toString()));
    take(text.slice(end + pasteEnds.length));
  };
  const takeTyped = (text: string): void => {
    const begin = text.indexOf(pasteBegins);
    const typed = begin < 0 ? text : text.slice(0, begin);
    const last = typed.split("").findIndex((key) => lastKeys.includes(key));
    isOver = last >= 0;
    isSuspended = typed[last] === ctrlZ;
    input.emit("data", bytesOf(isOver ? typed.slice(0, last + 1).replace(ctrlZ, "\r") : typed));
    if (!isOver && begin >= 0) pasted = "";
    if (isOver) take(text.slice(last + 1));
    else if (begin >= 0) take(text.slice(begin + pasteBegins.length));
  };
  // One character a byte, so that none is cut in two.
  const onData = (piece: Buffer) => take(piece.toString("latin1"));
  stdin.on("data", onData).resume();
  markPastes(true);
  return {
    isSuspended: () => isSuspended,
    input,
    type,
    close() {
      stdin.off("data", onData).pause();
      markPastes(false);
      if (rest !== "") stdin.unshift(bytesOf(rest));
    },
  };
}

const bytesOf = (text: string) => Buffer.from(text, "latin1");

/** A pasted text as one line, without what would act. */
function onOneLine(text: string): string {
  const lines = text.replaceAll(/\r\n?/g, "\n").replace(/(?<!\n)\n+$/, "");
  return lines
    .replaceAll("\t", "  ")
    .replaceAll("\n", breakSign)
    .replaceAll(/[\p{Cc}\u2028\u2029]/gu, "");
}

/** What was meant by a line in which pasted line breaks were shown. */
export const asMeant = (line: string): string => line.replaceAll(breakSign, "\n");
/** A former answer as a prompt shows it. */
export const asShown = (text: string): string => text.replaceAll("\n", breakSign);
