import type { FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { AppError } from "../../../core/errors.ts";
import { killOnAbort } from "../../../machine/sandbox/kill-on-abort.ts";
import type { Sandbox } from "../../../machine/sandbox/sandbox.ts";

/** How a tar archive is compressed. */
export type Compression = "none" | "gzip" | "bzip2" | "xz" | "zstd";

/**
 * An archive in a workspace: open, and also by its path there, for programs of the system that read
 * it.
 */
export type ArchiveFile = {
  readonly handle: FileHandle;
  readonly size: number;
  readonly workspace?: { readonly root: string; readonly path: string };
};

const chunkBytes = 256 * 1024;

/**
 * A file's decompressed content, chunk by chunk on demand. gzip is read here, the other formats by
 * the system's program in the sandbox; throws `unsupported` when that is not available.
 */
export async function* decompress(
  file: ArchiveFile,
  compression: Compression,
  { sandbox, signal }: { readonly sandbox: Sandbox; readonly signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  if (compression === "none") yield* chunksOf(file);
  else if (compression === "gzip") {
    const packed = Readable.from(chunksOf(file));
    const gunzip = createGunzip();
    packed.on("error", (error) => gunzip.destroy(error));
    yield* packed.pipe(gunzip);
  } else yield* byProgram(file, compression, sandbox, signal);
}

async function* chunksOf({ handle, size }: ArchiveFile): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(Math.min(chunkBytes, size - at)), 0, undefined, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

async function* byProgram(
  { workspace }: ArchiveFile,
  program: string,
  sandbox: Sandbox,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  if (workspace === undefined || sandbox.tier === "none")
    throw new AppError("unsupported", `Archives compressed by ${program} cannot be read here. Use .tar.gz or .zip.`);
  const process = await sandbox.spawn({
    argv: [program, "-dc", "--", `./${workspace.path}`],
    workspace: workspace.root,
  });
  using _ = killOnAbort(process, signal);
  process.stdin.end();
  const complaint = new Response(process.stderr).text();
  for await (const chunk of process.stdout) yield chunk;
  if ((await process.exited) !== 0)
    throw new AppError("rejected", `${program} could not read it: ${(await complaint).trim().slice(0, 300)}`);
}
