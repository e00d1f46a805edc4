import { type FileHandle, mkdir, open, realpath, rm, stat } from "node:fs/promises";
import { basename, join, resolve, sep } from "node:path";
import { chunksOf, type FileEncoding, otherEncoding } from "./file-encoding.ts";
import { namedFiles } from "./named-files.ts";
import { quoted } from "./table-of.ts";

const textFile = /\.(?:csv|tsv|txt|json|jsonl|ndjson)$/i;
const place = [".manyhands", "decoded"];
/** Larger files, and more of them together, are left as they are. */
const maxBytes = 500 * 1024 * 1024;
/** What a statement may call an encoding that we tell by the file. */
const told = /^(?:utf[-_]?(?:8|16)|latin[-_]?1|iso[-_]?8859[-_]?1|(?:windows|cp)[-_]?1252)$/i;

/** A statement that reads UTF-8 copies of files that are in another encoding. */
export type DecodedStatement = {
  readonly sql: string;
  /** What a reader of the files has to know of them, a sentence each. */
  readonly notes: readonly string[];
  /** A text of the database with the files' own names instead of the copies'. */
  readonly named: (text: string) => string;
};

/** The text files below a folder that are in an encoding which the database does not read. */
export interface DecodedFiles {
  /**
   * Writes such files that the statement reads as UTF-8, each once until it changes, and has it
   * read those. `goOn` stops it by throwing.
   */
  decode(sql: string, goOn: () => void): Promise<DecodedStatement>;
}

type Copy = { readonly told: string; readonly path: string; readonly bytes: number };

/** Reads and writes below `folder` only, after following symlinks; begins without any copy. */
export async function createDecodedFiles(folder: string): Promise<DecodedFiles> {
  const known = new Map<string, { readonly version: string; readonly copy: Copy | undefined }>();
  const folders = new Map<string, string>();
  // Programs in the workspace may have made it impossible; a copy is then refused when it is made.
  await rm(join(folder, ...place), { recursive: true, force: true }).catch(() => undefined);

  /** The folder of a file's copy, which keeps its name: by it statements also call its table. */
  function folderOf(path: string): string {
    const own = folders.get(path) ?? join(...place, `${folders.size}`);
    folders.set(path, own);
    return own;
  }

  async function copyOf(name: string, goOn: () => void): Promise<Copy | undefined> {
    const path = textFile.test(name) ? await realpath(resolve(folder, name)).catch(() => undefined) : undefined;
    if (path === undefined || !path.startsWith(folder + sep)) return undefined;
    const stats = await stat(path);
    if (!stats.isFile()) return undefined;
    const version = `${stats.mtimeMs} ${stats.size}`;
    const before = known.get(path);
    if (before?.version === version) return before.copy;
    known.delete(path);
    const others = [...known.values()].reduce((sum, { copy }) => sum + (copy?.bytes ?? 0), 0);
    const copy = others + stats.size > maxBytes ? undefined : await writeCopy(path, folder, folderOf(path), goOn);
    known.set(path, { version, copy });
    return copy;
  }

  return {
    async decode(sql, goOn) {
      const notes = new Set<string>();
      const names = new Map<string, string>();
      const texts = new Map<number, { readonly end: number; readonly text: string }>();
      for (const { text, start, end, encoding } of namedFiles(sql)) {
        if (encoding !== undefined && !told.test(encoding.text)) continue;
        const copy = await copyOf(text, goOn);
        if (copy === undefined) continue;
        notes.add(`${text} ${copy.told}.`);
        names.set(copy.path, text);
        texts.set(start, { end, text: copy.path });
        if (encoding !== undefined) texts.set(encoding.start, { end: encoding.end, text: "utf-8" });
      }
      let decoded = sql;
      for (const [start, { end, text }] of [...texts].toSorted(([one], [other]) => other - one))
        decoded = decoded.slice(0, start) + quoted(text, "'") + decoded.slice(end);
      const named = (text: string) => [...names].reduce((all, [path, name]) => all.replaceAll(path, name), text);
      return { sql: decoded, notes: [...notes], named };
    },
  };
}

/** Writes a file as UTF-8 into the folder `own` if it is in another encoding. */
async function writeCopy(path: string, folder: string, own: string, goOn: () => void): Promise<Copy | undefined> {
  const place = join(folder, own);
  await rm(place, { recursive: true, force: true });
  await using file = await open(path);
  const encoding = await otherEncoding(file, goOn);
  if (encoding === undefined) return undefined;
  await mkdir(place, { recursive: true });
  // Programs in the workspace may have put a link there.
  if ((await realpath(place)) !== place) return undefined;
  await using written = await open(join(place, basename(path)), "wx");
  const bytes = await writeDecoded(file, encoding, written, goOn);
  return { told: encoding.told, path: join(own, basename(path)), bytes };
}

async function writeDecoded(
  file: FileHandle,
  { label }: FileEncoding,
  written: FileHandle,
  goOn: () => void,
): Promise<number> {
  const decoder = new TextDecoder(label);
  let bytes = 0;
  for await (const chunk of chunksOf(file, goOn)) bytes += await put(decoder.decode(chunk, { stream: true }));
  return bytes + (await put(decoder.decode()));

  async function put(text: string): Promise<number> {
    await written.appendFile(text);
    return Buffer.byteLength(text);
  }
}
