import type { Sandbox } from "../../../machine/sandbox/sandbox.ts";
import type { ArchiveEntry } from "./archive-entry.ts";
import type { ArchiveFile } from "./decompress.ts";
import { openArchive } from "./open-archive.ts";
import { type Placing, placeEntries, type Unpacked } from "./place-entries.ts";

/** An archive that is to become a folder of a workspace. */
export type Unpacking = Omit<Placing, "entries" | "packedBytes"> & {
  readonly archive: ArchiveFile;
  readonly sandbox: Sandbox;
};

/** Makes an archive a new folder of the workspace, as `placeEntries` does. Rejects with `unsupported` for what is no archive that can be read here. */
export async function unpackArchive({ archive, sandbox, ...placing }: Unpacking): Promise<Unpacked> {
  return await placeEntries({ ...placing, entries: entriesOf(), packedBytes: archive.size });
  async function* entriesOf(): AsyncGenerator<ArchiveEntry> {
    yield* await openArchive(archive, { sandbox, signal: placing.signal });
  }
}
