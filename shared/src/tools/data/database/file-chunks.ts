import type { FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import { createGunzip, createZstdDecompress } from "node:zlib";

const chunkBytes = 1024 * 1024;
/** The ending of a file that the database unpacks as it reads. */
export const packed = /\.(?:gz|zst)$/i;

/**
 * An open file from its start, unpacked if its name says that it is packed. Throws `tooLong` after
 * this many bytes; `goOn` stops it by throwing.
 */
export async function* chunksOf(
  file: FileHandle,
  { name, maxBytes, goOn }: { readonly name: string; readonly maxBytes: number; readonly goOn: () => void },
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of packed.test(name) ? unpacked(file, name, goOn) : stored(file, goOn)) {
    goOn();
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLong;
    yield chunk;
  }
}

/** What `chunksOf` throws beyond its limit. */
export const tooLong: Error = new Error("the file is too long");

async function* stored(file: FileHandle, goOn: () => void): AsyncGenerator<Buffer> {
  const buffer = Buffer.alloc(chunkBytes);
  for (let at = 0; ; ) {
    goOn();
    const { bytesRead } = await file.read(buffer, 0, chunkBytes, at);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

async function* unpacked(file: FileHandle, name: string, goOn: () => void): AsyncGenerator<Buffer> {
  const unpack = /gz$/i.test(name) ? createGunzip({ chunkSize: chunkBytes }) : createZstdDecompress();
  // The stream keeps what it is given until it is read.
  const copies = async function* () {
    for await (const chunk of stored(file, goOn)) yield Buffer.from(chunk);
  };
  const source = Readable.from(copies());
  source.once("error", (error) => unpack.destroy(error));
  try {
    yield* source.pipe(unpack) as AsyncIterable<Buffer>;
  } finally {
    source.destroy();
    unpack.destroy();
  }
}
