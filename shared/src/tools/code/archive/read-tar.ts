import type { Extract, Header } from "tar-stream";
import { type ArchiveEntry, nothing } from "./archive-entry.ts";

const kinds: Readonly<Record<string, ArchiveEntry["kind"]>> = {
  file: "file",
  "contiguous-file": "file",
  directory: "folder",
  symlink: "symlink",
  link: "hard-link",
};

/** The entries of a tar stream, one after the other. */
export async function* readTar(stream: AsyncIterable<Uint8Array>): AsyncGenerator<ArchiveEntry> {
  const tar = await import("tar-stream");
  const extract = tar.extract();
  const feeding = feed(stream, extract);
  feeding.catch((error: Error) => extract.destroy(error));
  for await (const entry of extract) {
    const kind = kindOf(entry.header);
    const content = async function* () {
      for await (const chunk of entry) if (chunk instanceof Uint8Array) yield chunk;
    };
    yield {
      path: entry.header.name,
      kind,
      executable: (entry.header.mode & 0o100) !== 0,
      content: kind === "file" ? content : nothing,
      ...(kind.endsWith("link") && { target: entry.header.linkname }),
    };
    entry.resume();
  }
  await feeding;
}

/** Feeds the reader no more than it consumes. */
async function feed(stream: AsyncIterable<Uint8Array>, extract: Extract): Promise<void> {
  for await (const chunk of stream) {
    if (extract.destroyed) return;
    if (!extract.write(chunk)) await drained(extract);
  }
  extract.end(undefined);
}

function drained(extract: Extract): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const go = () => {
    extract.off("drain", go);
    extract.off("close", go);
    resolve();
  };
  extract.on("drain", go);
  extract.on("close", go);
  return promise;
}

function kindOf({ type }: Header): ArchiveEntry["kind"] {
  return kinds[type] ?? "special";
}
