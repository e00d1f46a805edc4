import { expect, test } from "bun:test";
import { join } from "node:path";

const code = `const { processTerminal } = await import(${JSON.stringify(join(import.meta.dir, "terminal.ts"))});
const read = await processTerminal({}).read(10, 300).then((bytes) => bytes && [...bytes], (error) => error.message);
console.log(JSON.stringify(read ?? null));
process.exit(0);`;

/** What a process reads from a pipe into which this is written, piece after piece. */
async function readFrom(pieces: readonly string[], ends: boolean, betweenMs = 0) {
  const child = Bun.spawn([process.execPath, "-e", code], { stdin: "pipe", stdout: "pipe" });
  for (const [at, piece] of pieces.entries()) {
    if (at > 0) await Bun.sleep(betweenMs);
    child.stdin.write(piece);
    child.stdin.flush();
  }
  if (ends) child.stdin.end();
  const read: unknown = JSON.parse(await child.stdout.text());
  child.kill();
  return read;
}

test("a pipe is read whole once it has begun, left alone while it is silent, and refused when it is too much", async () => {
  const bytes = (text: string) => [...new TextEncoder().encode(text)];
  const most = "Standard input has more than 0.00001 MB.";
  const cases = [
    readFrom(["ten bytes."], true),
    readFrom([], true),
    readFrom(["more than ten"], true),
    readFrom(["in ", "pieces"], true, 600),
    // The parent holds the pipe open and never writes.
    readFrom([], false),
  ];
  expect(await Promise.all(cases)).toEqual([bytes("ten bytes."), [], most, bytes("in pieces"), null]);
});

const opens = `const { processTerminal } = await import(${JSON.stringify(join(import.meta.dir, "terminal.ts"))});
const terminal = processTerminal({});`;
const tells = `console.log("answered " + JSON.stringify(answer ?? null));`;
const asks = `${opens} const answer = await terminal.ask("Your name"); ${tells}`;
const talks = `${opens} const answer = await terminal.ask("Your name", { inConversation: true }); ${tells}`;
/** What a person types while something is done, until Esc or Ctrl-C, and then at a prompt. */
const works = `${opens}
const { promise, resolve } = Promise.withResolvers();
process.on("SIGINT", () => resolve("Ctrl-C"));
const release = terminal.onEscape(() => resolve("Esc"));
console.log("Your name");
const how = await promise;
release();
const answer = how + " " + (await terminal.ask("Next")); ${tells}`;

const ctrlZ = "\u001a";

/** The answer of a person who types these keys, one after the other; undefined if it waits on. */
async function answerTo(keys: string | readonly string[], program = asks): Promise<unknown> {
  let shown = "";
  await using terminal = new Bun.Terminal({
    data(_, bytes) {
      shown += new TextDecoder().decode(bytes);
    },
  });
  const child = Bun.spawn([process.execPath, "-e", program], { terminal });
  const endsAt = performance.now() + 15_000;
  const find = async (text: RegExp) => {
    while (!text.test(shown) && performance.now() < endsAt) await Bun.sleep(10);
    return text.exec(shown)?.[1];
  };
  await find(/Your name/);
  for (const key of [keys].flat()) {
    terminal.write(key);
    // A key that comes with the next is part of a longer one.
    await Bun.sleep(200);
    if (!key.includes(ctrlZ)) continue;
    // As `fg` does.
    child.kill("SIGCONT");
    await Bun.sleep(200);
  }
  const answer = await find(/answered (.*)\r\n/);
  child.kill();
  return answer === undefined ? undefined : JSON.parse(answer);
}

test("at a keyboard, Enter gives an answer; Ctrl-C, and Ctrl-D in an empty line, decline to give one", async () => {
  const [ctrlC, ctrlD] = ["\u0003", "\u0004"];
  const cases = [answerTo("Ada\r"), answerTo(ctrlC), answerTo(ctrlD), answerTo(`Ada${ctrlD}\r`)];
  expect(await Promise.all(cases)).toEqual(["Ada", null, null, "Ada"]);
});

test("in a conversation Esc clears what is typed and ends nothing; Ctrl-C twice in a row, and Ctrl-D, end it", async () => {
  const [ctrlC, ctrlD, esc] = ["\u0003", "\u0004", "\u001b"];
  const cases = [
    answerTo([esc, "Ada\r"], talks),
    answerTo(["Bob", esc, "Ada\r"], talks),
    answerTo(["Bob", ctrlC, "Ada\r"], talks),
    answerTo([ctrlC, "Bob", ctrlC, "Ada\r"], talks),
    answerTo([ctrlC, ctrlC], talks),
    answerTo([ctrlD], talks),
  ];
  expect(await Promise.all(cases)).toEqual(["Ada", "Ada", "Ada", "Ada", null, null]);
});

test("while something is done, Esc and Ctrl-C are told apart, and what else is typed is there afterwards", async () => {
  const cases = [answerTo(["\u001b", "Ada\r"], works), answerTo(["\u0003", "Ada\r"], works)];
  expect(await Promise.all(cases)).toEqual(["Esc Ada", "Ctrl-C Ada"]);
  expect(await answerTo(["Ad", "\u001b[A", "\u001b", "a\r"], works)).toBe("Esc Ada");
});

const pasted = (text: string) => `\u001b[200~${text}\u001b[201~`;

test("a pasted text is one answer with all its lines, and nothing in it acts as a key", async () => {
  const cases = [
    answerTo([pasted("one\rtwo\r\r\tthree\r"), "\r"]),
    answerTo(["Look: ", pasted("Größe\n\u0003\u001b[A2 €"), "!\r"], talks),
    // In pieces, as a long one comes.
    answerTo(["\u001b[200~one\rtw", "o\u001b[20", "1~\r"], talks),
    answerTo([pasted("one\rtwo"), "\u001b", "Ada\r"], talks),
    answerTo([pasted("one\rtwo"), "\u001b", "\r"], works),
  ];
  expect(await Promise.all(cases)).toEqual([
    "one\ntwo\n\n  three",
    "Look: Größe\n[A2 €!",
    "one\ntwo",
    "Ada",
    "Esc one\ntwo",
  ]);
});

const talksTwice = `${opens}
const ask = () => terminal.ask("Your name", { inConversation: true });
const answer = [await ask(), await ask()]; ${tells}`;

test("what is typed after Enter is the next answer, and the arrow keys bring former ones back", async () => {
  const [up, down] = ["\u001b[A", "\u001b[B"];
  const cases = [
    answerTo(["Ada\rBob\r"], talksTwice),
    answerTo(["Ada\r", up, "!\r"], talksTwice),
    answerTo(["Ada\r", "Bob", up, up, down, "Eve\r"], talksTwice),
    answerTo([pasted("one\rtwo"), "\r", up, "\r"], talksTwice),
  ];
  expect(await Promise.all(cases)).toEqual([
    ["Ada", "Bob"],
    ["Ada", "Ada!"],
    ["Ada", "Eve"],
    ["one\ntwo", "one\ntwo"],
  ]);
});

test("after Ctrl-Z a prompt goes on with what was typed, and what is being done goes on", async () => {
  const cases = [
    answerTo(["Ad", ctrlZ, "a\r"]),
    answerTo([ctrlZ, "Ada\r"], talks),
    answerTo([pasted("one\rtwo"), `${ctrlZ}!\r`], talks),
    answerTo([ctrlZ, "\u001b", "Ada\r"], works),
    answerTo(["\r"]),
  ];
  expect(await Promise.all(cases)).toEqual(["Ada", "Ada", "one\ntwo!", "Esc Ada", ""]);
});
