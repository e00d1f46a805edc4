import { asMeant, asShown, markPastes, suspend, typedInput } from "./typed-input.ts";

/** How a person is asked at the keyboard. */
export type AskOptions = {
  /**
   * The question is one of many: Esc, and Ctrl-C, clear what is typed, and only Ctrl-C twice in a
   * row, or Ctrl-D, declines. Otherwise each of them does.
   */
  readonly inConversation?: boolean;
};

const esc = "\u001b";
const ctrlC = "\u0003";
const ctrlZ = "\u001a";

/** What was answered in conversations of this process, which the arrow keys bring back. */
const answered: string[] = [];

/** Asks at the keyboard; undefined when the person declines. */
export async function askAtKeyboard(
  question: string,
  { inConversation = false }: AskOptions,
  say: (line: string) => void,
): Promise<string | undefined> {
  if (!inConversation) return (await prompt(question)).answer;
  for (let interrupts = 0; ; ) {
    const { answer, isInterrupted, typed } = await prompt(question, answered);
    if (answer !== undefined && answer !== answered.at(-1)) answered.push(answer);
    if (answer !== undefined || !isInterrupted) return answer;
    interrupts = typed ? 1 : interrupts + 1;
    if (interrupts === 2) return undefined;
    say("Ctrl-C again, or Ctrl-D, ends the conversation.");
  }
}

type Prompted = { readonly answer: string | undefined; readonly isInterrupted: boolean; readonly typed: boolean };

type Key = { readonly name?: string; readonly ctrl?: boolean };

/**
 * One prompt, and how it ended: by Ctrl-C, and with anything typed before. With `former` answers it
 * is one of many: Esc clears it, and the arrow keys go through them. After Ctrl-Z it goes on with
 * what was typed.
 */
async function prompt(question: string, former?: readonly string[], begun = ""): Promise<Prompted> {
  const { isCancel, settings, text } = await import("@clack/prompts");
  const keyboard = typedInput();
  const { input } = keyboard;
  const closed = new AbortController();
  let isAnswered = false;
  let isInterrupted = false;
  let typed = false;
  let back = 0;
  let suspended = "";
  // Ctrl-D in an empty line closes the input, of which the prompt takes no notice: it would wait
  // for ever.
  const onPause = () => setImmediate(() => isAnswered || closed.abort());
  const replaceBy = (line: string) => {
    for (const name of ["e", "u"]) keyboard.type("", { name, ctrl: true });
    if (line !== "") keyboard.type(asShown(line));
  };
  const onKey = (_: unknown, { name, ctrl }: Key) => {
    if (ctrl === true && name === "c") isInterrupted = true;
    else if (name !== "escape") typed = true;
    else if (former !== undefined) replaceBy("");
    const to = back + (name === "up" ? 1 : name === "down" ? -1 : 0);
    if (former === undefined || to === back || to < 0 || to > former.length) return;
    back = to;
    replaceBy(back === 0 ? "" : (former.at(-back) ?? ""));
  };
  const declining = settings.aliases.get("escape");
  if (former !== undefined) settings.aliases.delete("escape");
  input.once("pause", onPause).on("keypress", onKey);
  try {
    const answer = await text({ message: question, signal: closed.signal, input, initialValue: begun });
    if (keyboard.isSuspended() && !isCancel(answer)) suspended = asMeant(answer);
    else return { answer: isCancel(answer) ? undefined : asMeant(answer), isInterrupted, typed };
  } finally {
    isAnswered = true;
    keyboard.close();
    if (declining !== undefined) settings.aliases.set("escape", declining);
  }
  suspend();
  return prompt(question, former, asShown(suspended));
}

/**
 * Calls `act` for each Esc until the returned function is called. Ctrl-C stays a signal, and what
 * else is typed is there for the next prompt.
 */
export function onEscapeKey(act: () => void): () => void {
  const { stdin } = process;
  const kept: Buffer[] = [];
  const onData = (piece: Buffer) => {
    const text = piece.toString("latin1");
    if (text === esc) act();
    else if (text.includes(ctrlC)) process.kill(process.pid, "SIGINT");
    else if (text === ctrlZ) {
      stdin.setRawMode(false);
      suspend();
      stdin.setRawMode(true);
    } else kept.push(piece);
  };
  stdin.setRawMode(true);
  stdin.on("data", onData).resume();
  markPastes(true);
  return () => {
    stdin.off("data", onData).pause();
    stdin.setRawMode(false);
    markPastes(false);
    if (kept.length > 0) stdin.unshift(Buffer.concat(kept));
  };
}
