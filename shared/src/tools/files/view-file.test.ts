import { expect, test } from "bun:test";
import type { FileHandle } from "node:fs/promises";
import { viewFile } from "./view-file.ts";

/** A file without end, of lines this long, and how often it was read. */
function endless(lineLength: number) {
  const state = { reads: 0, onRead: (_: number) => {} };
  const line = `${"x".repeat(lineLength - 1)}\n`;
  const handle = {
    async read(into: Buffer, _: number, length: number, position: number) {
      state.onRead(++state.reads);
      const from = position % lineLength;
      into.write(line.repeat(Math.ceil((length + from) / lineLength)).slice(from, from + length));
      return { bytesRead: length, buffer: into };
    },
  } as unknown as FileHandle;
  return { state, handle };
}

test("of a file without end no more is read than is shown", async () => {
  const { handle, state } = endless(100);
  const { signal } = new AbortController();
  const view = async (range: readonly number[] | undefined) => {
    state.reads = 0;
    const { text, whole } = await viewFile(handle, 1e12, { path: "log", range, signal, resultCharacters: 12_000 });
    return [text.includes("<response clipped>"), whole, state.reads < 10];
  };
  expect(await view(undefined)).toEqual([true, undefined, true]);
  expect(await view([5, -1])).toEqual([true, undefined, true]);
  expect(await view([5, 6])).toEqual([false, undefined, true]);
});

test("whoever cancels does not wait until the lines of a long file are counted", async () => {
  const { handle, state } = endless(100);
  const caller = new AbortController();
  const reason = new Error("stopped");
  state.onRead = (reads) => {
    if (reads === 5) caller.abort(reason);
    if (reads > 50) throw new Error("still reading");
  };
  const viewing = viewFile(handle, 1e12, {
    path: "log",
    range: [1e12, -1],
    signal: caller.signal,
    resultCharacters: 12_000,
  });
  expect(await viewing.catch((error: unknown) => error)).toBe(reason);
});

test("where a result has room for less, whole lines are shown, and where to read on", async () => {
  const { handle } = endless(50);
  const { signal } = new AbortController();
  const { text } = await viewFile(handle, 1e12, { path: "log", range: undefined, signal, resultCharacters: 3_000 });
  expect(text.length).toBeLessThanOrEqual(3_000);
  const last = Number(/Lines 1 to (\d+) are shown/.exec(text)?.[1]);
  expect(text.split("\n")[last]).toStartWith(`${String(last).padStart(6)}\t${"x".repeat(49)}<response clipped>`);
  expect(text).toContain(`Read on with view_range [${last + 1}, -1].`);
});
