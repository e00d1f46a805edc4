import { AppError } from "../../../core/errors.ts";
import type { Sandbox } from "../../../machine/sandbox/sandbox.ts";
import type { ArchiveEntry } from "./archive-entry.ts";
import { type ArchiveFile, type Compression, decompress } from "./decompress.ts";
import { readTar } from "./read-tar.ts";
import { readZip } from "./read-zip.ts";

const magics: readonly (readonly [Exclude<Compression, "none"> | "zip", string])[] = [
  ["zip", "504b0304"],
  ["zip", "504b0506"],
  ["gzip", "1f8b"],
  ["bzip2", "425a68"],
  ["xz", "fd377a585a00"],
  ["zstd", "28b52ffd"],
];

const tarMagicAt = 257;

/** The entries of an archive, whose kind its first bytes tell and not its name. Throws `unsupported` for what is none. */
export async function openArchive(
  file: ArchiveFile,
  deps: { readonly sandbox: Sandbox; readonly signal: AbortSignal },
): Promise<AsyncGenerator<ArchiveEntry>> {
  const { buffer } = await file.handle.read(Buffer.alloc(tarMagicAt + 5), 0, undefined, 0);
  const start = buffer.toString("hex");
  const kind = magics.find(([, magic]) => start.startsWith(magic))?.[0];
  if (kind === "zip") return readZip(file.handle.fd);
  if (kind === undefined && buffer.toString("latin1", tarMagicAt) !== "ustar")
    throw new AppError(
      "unsupported",
      "It is no archive that can be unpacked here (.zip, .tar, .tar.gz, .tar.bz2, .tar.xz, .tar.zst).",
    );
  return readTar(decompress(file, kind ?? "none", deps));
}
