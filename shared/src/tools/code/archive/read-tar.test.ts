import { expect, test } from "bun:test";
import { type Header, pack } from "tar-stream";
import { readTar } from "./read-tar.ts";

async function tarOf(entries: readonly (Partial<Header> & { readonly name: string })[], content = "text") {
  const tar = pack();
  for (const entry of entries) tar.entry(entry, entry.type === undefined || /file/.test(entry.type) ? content : "");
  tar.finalize();
  const chunks: Uint8Array[] = [];
  for await (const chunk of tar) if (chunk instanceof Uint8Array) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* inPieces(bytes: Uint8Array, after?: Error): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 700) yield bytes.subarray(at, at + 700);
  if (after !== undefined) throw after;
}

test("an entry is what its header says, executable if its owner may execute it", async () => {
  const bytes = await tarOf([
    { name: "plain", mode: 0o654 },
    { name: "program", mode: 0o744 },
    { name: "joined", type: "contiguous-file", mode: 0o644 },
    { name: "folder/", type: "directory" },
    { name: "link", type: "symlink", linkname: "plain" },
    { name: "other", type: "link", linkname: "plain" },
    { name: "pipe", type: "fifo" },
  ]);
  const entries = await Array.fromAsync(readTar(inPieces(bytes)), ({ path, kind, executable, target }) => [
    ...[path, kind, executable],
    ...(target === undefined ? [] : [target]),
  ]);
  expect(entries).toEqual([
    ["plain", "file", false],
    ["program", "file", true],
    ["joined", "file", false],
    ["folder/", "folder", expect.any(Boolean)],
    ["link", "symlink", expect.any(Boolean), "plain"],
    ["other", "hard-link", expect.any(Boolean), "plain"],
    ["pipe", "special", expect.any(Boolean)],
  ]);
});

test("content that nobody reads is passed over, and what is read is whole", async () => {
  const bytes = await tarOf([{ name: "a" }, { name: "b" }, { name: "c" }], "x".repeat(200_000));
  const lengths: Record<string, number> = {};
  for await (const { path, content } of readTar(inPieces(bytes))) {
    if (path === "b") continue;
    lengths[path] = (await Array.fromAsync(content())).reduce((sum, { length }) => sum + length, 0);
  }
  expect(lengths).toEqual({ a: 200_000, c: 200_000 });
});

test("a stream that fails after the archive's end has failed", async () => {
  const names: string[] = [];
  const reading = (async () => {
    for await (const { path } of readTar(inPieces(await tarOf([{ name: "a" }]), new Error("damaged at the end"))))
      names.push(path);
  })();
  await expect(reading).rejects.toThrow("damaged at the end");
  expect(names).toEqual(["a"]);
});

test("whoever leaves an archive lets go of its stream, also one that is waited for", async () => {
  const left = Promise.withResolvers<string>();
  const endless = async function* (): AsyncGenerator<Uint8Array> {
    const header = (await tarOf([{ name: "large" }], "x".repeat(8_000_000))).subarray(0, 512);
    try {
      yield header;
      for (;;) yield new Uint8Array(100_000);
    } finally {
      left.resolve("left");
    }
  };
  for await (const { path } of readTar(endless())) {
    expect(path).toBe("large");
    // Until its reader takes no more.
    await Bun.sleep(1);
    break;
  }
  expect(await left.promise).toBe("left");
});
