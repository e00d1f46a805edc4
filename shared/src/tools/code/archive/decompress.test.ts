import { afterAll, beforeAll, expect, test } from "bun:test";
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { Sandbox } from "../../../machine/sandbox/sandbox.ts";
import { type CodePlace, openCodePlace } from "../../../testing/code/code-place.ts";
import { processByHand } from "../../../testing/sandbox/process-by-hand.ts";
import { type ArchiveFile, type Compression, decompress } from "./decompress.ts";

let place: CodePlace;
beforeAll(async () => {
  place = await openCodePlace();
});
afterAll(() => place.close());

/** A file of a new workspace, open, as `unpack` has it. */
async function packed(content: Uint8Array): Promise<ArchiveFile> {
  const { root } = await place.project({ packed: content });
  const handle = await open(join(root, "packed"));
  return { handle, size: content.length, workspace: { root, path: "packed" } };
}

/** The file's text, unpacked; the file is closed then. */
async function text(
  file: ArchiveFile,
  compression: Compression,
  signal = new AbortController().signal,
  sandbox = place.sandbox,
) {
  await using _ = file.handle;
  const chunks: Uint8Array[] = [];
  for await (const chunk of decompress(file, compression, { sandbox, signal })) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test.if(Bun.which("xz") !== null)("content whose program finds it damaged only at its end is refused", async () => {
  const whole = Bun.spawnSync(["xz", "-c"], { stdin: Buffer.from("all of it") }).stdout;
  expect(await text(await packed(whole), "xz")).toBe("all of it");
  await expect(text(await packed(whole.subarray(0, -8)), "xz")).rejects.toThrow("xz could not read it");
});

test("a file that cannot be read to its end is an error, not an endless wait", async () => {
  const file = await packed(Bun.gzipSync("x"));
  await file.handle.close();
  await expect(text(file, "gzip")).rejects.toThrow();
});

test("a canceled decompression ends its program at once", async () => {
  const caller = new AbortController();
  const begun = Promise.withResolvers<void>();
  /** Its programs never come to an end. */
  const sandbox: Sandbox = {
    ...place.sandbox,
    async spawn(command) {
      const process = await place.sandbox.spawn({ ...command, argv: ["sleep", "600"] });
      begun.resolve();
      return process;
    },
  };
  const reading = text(await packed(Buffer.from("x")), "xz", caller.signal, sandbox);
  await begun.promise;
  caller.abort(new DOMException("Stopped.", "AbortError"));
  await expect(reading).rejects.toThrow("xz could not read it");
});

test("a file that became shorter is read as far as it goes", async () => {
  const file = await packed(Buffer.from("short"));
  expect(await text({ ...file, size: 5_000_000 }, "none")).toBe("short");
});

test("what is not in a workspace, or has no sandbox, is given to no program", async () => {
  let started = 0;
  const sandbox: Sandbox = {
    ...place.sandbox,
    async spawn() {
      started++;
      const byHand = processByHand();
      byHand.exits(0);
      return byHand.process;
    },
  };
  const { signal } = new AbortController();
  const downloaded = { ...(await packed(Buffer.from("x"))), workspace: undefined };
  const { workspace: _, ...file } = downloaded;
  await expect(text(file, "bzip2", signal, sandbox)).rejects.toMatchObject({ code: "unsupported" });
  const none: Sandbox = { ...sandbox, tier: "none" };
  await expect(text(await packed(Buffer.from("x")), "zstd", signal, none)).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringContaining("compressed by zstd"),
  });
  expect(started).toBe(0);
});

test("the program ends with its reader, however much there is still to come", async () => {
  const byHand = processByHand();
  byHand.says("stdout", "first");
  const sandbox: Sandbox = { ...place.sandbox, spawn: async () => byHand.process };
  const file = await packed(Buffer.from("x"));
  await using _ = file.handle;
  for await (const chunk of decompress(file, "xz", { sandbox, signal: new AbortController().signal })) {
    expect(Buffer.from(chunk).toString()).toBe("first");
    break;
  }
  expect(byHand.done).toEqual(["end", "kill"]);
});

test("a cancellation ends a program that has begun and says nothing more", async () => {
  const caller = new AbortController();
  const byHand = processByHand();
  byHand.says("stdout", "first");
  const sandbox: Sandbox = { ...place.sandbox, spawn: async () => byHand.process };
  const file = await packed(Buffer.from("x"));
  await using _ = file.handle;
  const reading = decompress(file, "xz", { sandbox, signal: caller.signal });
  expect(Buffer.from((await reading.next()).value ?? "").toString()).toBe("first");
  const rest = reading.next();
  caller.abort();
  await expect(rest).rejects.toThrow("xz could not read it");
  // Once by the cancellation, and once more when it was over.
  expect(byHand.done).toEqual(["end", "kill", "kill"]);
});
