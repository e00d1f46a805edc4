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

/** Asks at the keyboard; undefined when the person declines. */
export async function askAtKeyboard(
  question: string,
  { inConversation = false }: AskOptions,
  say: (line: string) => void,
): Promise<string | undefined> {
  if (!inConversation) return (await prompt(question, true)).answer;
  for (let interrupts = 0; ; ) {
    const { answer, isInterrupted, typed } = await prompt(question, false);
    if (answer !== undefined || !isInterrupted) return answer;
    interrupts = typed ? 1 : interrupts + 1;
    if (interrupts === 2) return undefined;
    say("Ctrl-C again, or Ctrl-D, ends the conversation.");
  }
}

type Key = { readonly name?: string; readonly ctrl?: boolean };

/** One prompt, and how it ended: by Ctrl-C, and with anything typed before. */
async function prompt(question: string, escapeDeclines: boolean) {
  const { isCancel, settings, text } = await import("@clack/prompts");
  const closed = new AbortController();
  let answered = false;
  let isInterrupted = false;
  let typed = false;
  // Ctrl-D in an empty line closes the input, of which the prompt takes no notice: it would wait
  // for ever.
  const onPause = () => setImmediate(() => answered || closed.abort());
  const onKey = (_: unknown, { name, ctrl }: Key) => {
    if (ctrl === true && name === "c") isInterrupted = true;
    else if (name !== "escape") typed = true;
    else if (!escapeDeclines)
      for (const key of ["e", "u"]) process.stdin.emit("keypress", undefined, { name: key, ctrl: true });
  };
  const declining = settings.aliases.get("escape");
  if (!escapeDeclines) settings.aliases.delete("escape");
  process.stdin.once("pause", onPause).on("keypress", onKey);
  try {
    const answer = await text({ message: question, signal: closed.signal });
    return { answer: isCancel(answer) ? undefined : answer, isInterrupted, typed };
  } finally {
    answered = true;
    process.stdin.off("pause", onPause).off("keypress", onKey);
    if (declining !== undefined) settings.aliases.set("escape", declining);
  }
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
    else kept.push(piece);
  };
  stdin.setRawMode(true);
  stdin.on("data", onData).resume();
  return () => {
    stdin.off("data", onData).pause();
    stdin.setRawMode(false);
    if (kept.length > 0) stdin.unshift(Buffer.concat(kept));
  };
}
