import { mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import type { EventOf } from "manyhands/internal/core/events/events";
import { isProtected } from "manyhands/internal/machine/workspace/protected-names";
import type { FilePart, FileSource } from "./agent-client.ts";

type Artifact = EventOf<"artifact-added">;

/** A file of a task that now lies on this machine. */
export type SavedFile = { readonly path: string; readonly bytes: number };

/**
 * Writes the files of these artifacts, and other text than answers, into `folder`, which it makes
 * when there is one. Names are an agent's: their folders are made below it, so that what refers to
 * another file finds it, never outside it or hidden or as programs look for by themselves, and a
 * name that is taken gets a number. Of several versions of one file the newest is written. Rejects
 * as `source.file` does.
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
  for (const { name, content } of newest.values()) {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : await source.file(content, options);
    const path = join(folder, freePath(name, taken));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, bytes);
    saved.push({ path, bytes: bytes.byteLength });
  }
  return saved;
}

/** What is written under a name: a file to be fetched, or text. */
type Content = { readonly name: string; readonly content: FilePart | string };

/** Artifacts that are told anyway, and saved by nobody. */
const answers: readonly string[] = ["answer", "partial-answer"];

/** An artifact's files; of one that is text, such as a flow's plan.md, the text. */
function filesOf({ name, parts }: Artifact): Content[] {
  return parts.flatMap((part): Content[] => {
    if (part.type === "file" || part.type === "url") return [{ name: part.name ?? name, content: part }];
    return part.type === "text" && !answers.includes(name) ? [{ name, content: part.text }] : [];
  });
}

/**
 * A part of a path that is not hidden, that every file system takes as it is, and that no program
 * looks for by itself.
 */
function harmless(segment: string): string {
  const shown = segment
    .replace(/[\p{C}:]/gu, "_")
    .slice(0, 200)
    .replace(/^\s*\./, "_")
    .replace(/(?<![\s.])[\s.]+$/, "");
  return isProtected(shown) ? `_${shown}` : shown;
}

/**
 * A path below a folder that is not taken yet, without anything a file system, a terminal or
 * another program would obey.
 */
function freePath(name: string, taken: Set<string>): string {
  const kept = name.split(/[/\\]/).filter((segment) => !/^[\s.]*$/.test(segment));
  const [plain = "file", ...outwards] = kept.slice(-9).map(harmless).reverse();
  const folders = outwards.reverse();
  while (folders.some((_, at) => taken.has(join(...folders.slice(0, at + 1)).toLowerCase()))) folders.pop();
  const path = (last: string) => join(...folders, last);
  let free = plain;
  for (let n = 2; taken.has(path(free).toLowerCase()) || taken.has(`${path(free).toLowerCase()}/`); n++)
    free = `${basename(plain, extname(plain))}-${n}${extname(plain)}`;
  taken.add(path(free).toLowerCase());
  for (const [at] of folders.entries()) taken.add(`${join(...folders.slice(0, at + 1)).toLowerCase()}/`);
  return path(free);
}
