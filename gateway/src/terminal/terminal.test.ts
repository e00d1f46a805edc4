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
