import { mock } from "bun:test";
import * as real from "node:fs/promises";

/*
 * Preloaded into a child process: the process is killed before its CRASH_AT-th change of the disk, or, where that is a write, in the middle of it.
 * All that comes before is done for real, by the real functions.
 */
const functions = { ...real };
const crashAt = Number(process.env.CRASH_AT);
let changes = 0;

async function countChange(half?: () => Promise<unknown>): Promise<void> {
  changes++;
  if (changes !== crashAt) return;
  await half?.();
  process.kill(process.pid, "SIGKILL");
  await new Promise(() => undefined);
}

function counted<Args extends unknown[], T>(change: (...args: Args) => Promise<T>): (...args: Args) => Promise<T> {
  return async (...args) => {
    await countChange();
    return await change(...args);
  };
}

async function open(...args: Parameters<typeof real.open>): Promise<real.FileHandle> {
  const handle = await functions.open(...args);
  const writeFile = handle.writeFile.bind(handle);
  handle.writeFile = async (data, options) => {
    const bytes = Buffer.from(data as Uint8Array);
    await countChange(() => writeFile(bytes.subarray(0, bytes.length / 2)));
    await writeFile(data, options);
  };
  return handle;
}

mock.module("node:fs/promises", () => ({
  ...functions,
  open,
  link: counted(real.link),
  mkdir: counted(real.mkdir),
  rename: counted(real.rename),
  rm: counted(real.rm),
}));
