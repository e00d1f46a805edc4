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

const asks = `const { processTerminal } = await import(${JSON.stringify(join(import.meta.dir, "terminal.ts"))});
const answer = await processTerminal({}).ask("Your name");
console.log("answered " + JSON.stringify(answer ?? null));`;

/** The answer of a person who types these keys at the prompt; undefined if it waits on. */
async function answerTo(keys: string): Promise<unknown> {
  let shown = "";
  await using terminal = new Bun.Terminal({
    data(_, bytes) {
      shown += new TextDecoder().decode(bytes);
    },
  });
  const child = Bun.spawn([process.execPath, "-e", asks], { terminal });
  const endsAt = performance.now() + 15_000;
  const find = async (text: RegExp) => {
    while (!text.test(shown) && performance.now() < endsAt) await Bun.sleep(10);
    return text.exec(shown)?.[1];
  };
  await find(/Your name/);
  terminal.write(keys);
  const answer = await find(/answered (.*)\r\n/);
  child.kill();
  return answer === undefined ? undefined : JSON.parse(answer);
}

test("at a keyboard, Enter gives an answer; Ctrl-C, and Ctrl-D in an empty line, decline to give one", async () => {
  const [ctrlC, ctrlD] = ["\u0003", "\u0004"];
  const cases = [answerTo("Ada\r"), answerTo(ctrlC), answerTo(ctrlD), answerTo(`Ada${ctrlD}\r`)];
  expect(await Promise.all(cases)).toEqual(["Ada", null, null, "Ada"]);
});
