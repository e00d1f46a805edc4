import { once } from "node:events";
import { constants, createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createZstdCompress } from "node:zlib";
import { AppError } from "../../../core/errors.ts";

/** Writes the contents of files one after the other into one compressed file. */
export type PackWriter = {
  /** Bytes so far, before they are compressed. */
  size(): number;
  /** Adds a regular file; undefined if there is none at this path, or a symlink. */
  add(path: string): Promise<{ readonly at: number; readonly size: number; readonly sha256: string } | undefined>;
  end(): Promise<void>;
};

const chunkBytes = 256 * 1024;

/** Begins a pack in a new file. More than `most` bytes are refused with `too_large`. */
export function writePack(file: string, most: number): PackWriter {
  const compress = createZstdCompress();
  const written = pipeline(compress, createWriteStream(file, { flags: "wx", mode: 0o600 }));
  written.catch(() => undefined);
  let size = 0;
  return {
    size: () => size,
    async add(path) {
      await using handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      if (!(await handle.stat()).isFile()) return undefined;
      const hash = new Bun.CryptoHasher("sha256");
      const at = size;
      for (;;) {
        const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes);
        if (bytesRead === 0) break;
        const bytes = buffer.subarray(0, bytesRead);
        size += bytesRead;
        if (size > most) throw new AppError("too_large", "The workspace is too large to be stored.");
        hash.update(bytes);
        if (!compress.write(bytes)) await Promise.race([once(compress, "drain"), written]);
      }
      return { at, size: size - at, sha256: hash.digest("hex") };
    },
    async end() {
      compress.end();
      await written;
    },
  };
}
