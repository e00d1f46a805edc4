import { chmod, lchown, mkdir, open, symlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { pipeline, Readable } from "node:stream";
import { createZstdDecompress } from "node:zlib";
import { AppError, errnoOf } from "../../../core/errors.ts";
import type { Owner } from "../held-folder.ts";
import type { Manifest, PackedFile } from "./manifest.ts";

/**
 * Makes what a manifest lists in a new folder, which nobody else can enter: files before symlinks,
 * so that none is followed. Files of tools get the user that those run as.
 */
export async function restoreInto(
  folder: string,
  { folders, files, links }: Manifest,
  {
    packOf,
    user,
  }: { packOf(id: string): Promise<ReadableStream<Uint8Array> | undefined>; readonly user: Owner | undefined },
): Promise<void> {
  for (const { path } of folders) await mkdir(join(folder, path), { recursive: true, mode: 0o700 });
  for (const [id, ofPack] of Map.groupBy(files, ({ pack }) => pack)) {
    const packed = await packOf(id);
    if (packed === undefined) throw damaged();
    await unpack(
      folder,
      packed,
      ofPack.toSorted((one, other) => one.at - other.at),
    );
  }
  for (const { path, target } of links) await symlink(target, join(folder, path));
  if (user !== undefined && process.getuid?.() === 0)
    for (const { path } of [...folders, ...files, ...links])
      if (path === "files" || path.startsWith("files/")) await lchown(join(folder, path), user.uid, user.gid);
  // The innermost first: its parent may be read-only.
  for (const { path, mode } of folders.toReversed()) await chmod(join(folder, path), mode);
}

/** Writes the files of one pack, sorted by their places in it. */
async function unpack(folder: string, packed: ReadableStream<Uint8Array>, files: readonly PackedFile[]): Promise<void> {
  // A download that breaks off fails the reading below, instead of the process.
  const bytes = pipeline(Readable.fromWeb(packed as never), createZstdDecompress(), () => undefined);
  const waiting = [...files];
  let at = 0;
  let writing: Awaited<ReturnType<typeof begin>>;
  try {
    writing = await begin(folder, waiting.shift());
    for await (const chunk of readable(bytes)) {
      let from = at;
      at += chunk.byteLength;
      while (writing !== undefined && writing.file.at < at) {
        const { file } = writing;
        const start = Math.max(from, file.at + writing.written);
        const part = chunk.subarray(start - (at - chunk.byteLength), file.at + file.size - (at - chunk.byteLength));
        await writing.write(part);
        if (writing.written < file.size) break;
        from = file.at + file.size;
        await writing.end();
        writing = await begin(folder, waiting.shift());
      }
    }
    // Empty files may be at the very end.
    for (; writing !== undefined; writing = await begin(folder, waiting.shift())) await writing.end();
  } catch (error) {
    await writing?.leave();
    throw error instanceof AppError ? error : unwritten(error);
  } finally {
    bytes.destroy();
  }
}

/** What is read of a pack; what cannot be read is damaged. */
async function* readable(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* bytes;
  } catch (error) {
    throw error instanceof AppError ? error : damaged(error);
  }
}

async function begin(folder: string, file: PackedFile | undefined) {
  if (file === undefined) return undefined;
  const path = join(folder, file.path);
  const handle = await open(path, "wx", 0o600);
  const hash = new Bun.CryptoHasher("sha256");
  const self = {
    file,
    written: 0,
    async write(part: Uint8Array) {
      hash.update(part);
      self.written += part.byteLength;
      await handle.writeFile(part);
    },
    async end() {
      await handle.close();
      if (hash.digest("hex") !== file.sha256) throw damaged();
      await chmod(path, file.mode);
      await utimes(path, file.modifiedAt / 1000, file.modifiedAt / 1000);
    },
    leave: () => handle.close().catch(() => undefined),
  };
  return self;
}

function unwritten(cause: unknown): AppError {
  const reason = errnoOf(cause) ?? String(cause);
  return new AppError("storage_unavailable", `What was stored of a workspace cannot be written here (${reason}).`, {
    cause,
  });
}

function damaged(cause?: unknown): AppError {
  return new AppError("storage_unavailable", "The object store does not hold what was stored of a workspace.", {
    cause,
  });
}
