import { afterAll, beforeAll, expect, test } from "bun:test";
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { Sandbox } from "../../../machine/sandbox/sandbox.ts";
import { type CodePlace, openCodePlace } from "../../../testing/code/code-place.ts";
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
