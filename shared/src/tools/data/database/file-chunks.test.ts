import { expect, test } from "bun:test";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chunksOf, tooLong } from "./file-chunks.ts";

const megabyte = 2 ** 20;
const text = new Uint8Array(10 * megabyte).fill(97);

test.each<[string, Uint8Array<ArrayBuffer>]>([
  ["plain.csv", text],
  ["packed.csv.gz", Bun.gzipSync(text)],
  ["packed.csv.zst", new Uint8Array(Bun.zstdCompressSync(text))],
])("%s is read whole, or not beyond a limit, or until it is stopped", async (name, bytes) => {
  const folder = await mkdtemp(join(tmpdir(), "chunks-"));
  await Bun.write(join(folder, name), bytes);
  await using file = await open(join(folder, name));
  const read = async (maxBytes: number, goOn = () => {}) => {
    let length = 0;
    try {
      for await (const chunk of chunksOf(file, { name, maxBytes, goOn })) length += chunk.length;
      return { length };
    } catch (error) {
      return { length, error };
    }
  };
  expect(await read(10 * megabyte)).toEqual({ length: 10 * megabyte });
  const { length, error } = await read(3 * megabyte);
  expect([length <= 3 * megabyte, error]).toEqual([true, tooLong]);
  const stop = new Error("stop");
  const stopped = await read(10 * megabyte, () => {
    throw stop;
  });
  expect(stopped).toEqual({ length: 0, error: stop });
  await rm(folder, { recursive: true });
});
