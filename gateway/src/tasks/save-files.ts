import { mkdir, writeFile } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import type { AgentEvent } from "@manyhands/shared/agent/events";
import type { FilePart, FileSource } from "./agent-client.ts";

type Artifact = Extract<AgentEvent, { type: "artifact-added" }>;

/** A file of a task that now lies on this machine. */
export type SavedFile = { readonly path: string; readonly bytes: number };

/**
 * Writes the files of these artifacts into `folder`, which it makes when there is one. Names are an agent's: only their last part is used,
 * and a name that is taken gets a number. Of several versions of one file the newest is written. Rejects as `source.file` does.
 */
export async function saveFiles(
  artifacts: readonly Artifact[],
  folder: string,
  source: FileSource,
  options: { readonly signal: AbortSignal },
): Promise<SavedFile[]> {
  const newest = new Map(artifacts.flatMap(filesOf).map((file) => [file.name, file]));
  const taken = new Set<string>();
  const saved: SavedFile[] = [];
  for (const { name, part } of newest.values()) {
    const bytes = await source.file(part, options);
    const path = join(folder, freeName(name, taken));
    await mkdir(folder, { recursive: true });
    await writeFile(path, bytes);
    saved.push({ path, bytes: bytes.byteLength });
  }
  return saved;
}

function filesOf(artifact: Artifact): { name: string; part: FilePart }[] {
  return artifact.parts.flatMap((part) =>
    part.type === "file" || part.type === "url" ? [{ name: part.name ?? artifact.name, part }] : [],
  );
}

/** A plain file name that is not taken yet, without anything a path or a terminal would obey. */
function freeName(name: string, taken: Set<string>): string {
  const plain = basename(name.replaceAll("\\", "/")).replace(/\p{C}/gu, "_");
  const safe = plain === "" || plain === "." || plain === ".." ? "file" : plain;
  let free = safe;
  for (let n = 2; taken.has(free.toLowerCase()); n++) free = `${basename(safe, extname(safe))}-${n}${extname(safe)}`;
  taken.add(free.toLowerCase());
  return free;
}
