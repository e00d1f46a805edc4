import { type FileHandle, mkdir, open, realpath, rm, stat } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { chunksOf, packed, tooLong } from "./file-chunks.ts";
import { type Chunks, type FileEncoding, otherEncoding } from "./file-encoding.ts";
import { namedFiles } from "./named-files.ts";
import { notesOfFiles } from "./notes-of-files.ts";
import { quoted } from "./table-of.ts";

const textFile = /\.(?:csv|tsv|txt|json|jsonl|ndjson)(?:\.(?:gz|zst))?$/i;
/** Only `read_csv` takes an encoding. */
const isJson = /json/i;
const another = " (read_csv with encoding = '…' reads it as another)";
/** Larger files, and more of them together, are left as they are. */
const maxBytes = 500 * 1024 * 1024;
/** What a statement may call an encoding that the file itself tells. */
const told = /^utf[-_]?(?:8|16)$/i;

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
   * read those. An encoding that the statement names is believed. `goOn` stops it by throwing.
   */
  decode(sql: string, goOn: () => void): Promise<DecodedStatement>;
  /** Whether a file is read through such a copy. */
  needsCopy(name: string, goOn: () => void): Promise<boolean>;
}

/** Whether a file is a copy as earlier versions made them, in the workspace. */
export function isFormerCopy(name: string): boolean {
  return name.startsWith(".manyhands/decoded/");
}

type Copy = Pick<FileEncoding, "told" | "isGuess"> & { readonly path: string; readonly bytes: number };

/** Reads below `folder` only, after following symlinks, and writes into `staging`. */
export function createDecodedFiles(places: { readonly folder: string; readonly staging: string }): DecodedFiles {
  const { folder, staging } = places;
  const known = new Map<string, { readonly version: string; readonly copy: Copy | undefined }>();
  const folders = new Map<string, string>();

  /** The folder of a file's copy, which keeps its name: by it statements also call its table. */
  function folderOf(key: string): string {
    const own = folders.get(key) ?? join(staging, `${folders.size}`);
    folders.set(key, own);
    return own;
  }

  async function copyOf(name: string, label: Bun.Encoding | undefined, goOn: () => void): Promise<Copy | undefined> {
    const path = textFile.test(name) ? await realpath(resolve(folder, name)).catch(() => undefined) : undefined;
    if (path === undefined || !path.startsWith(folder + sep)) return undefined;
    const stats = await stat(path);
    if (!stats.isFile()) return undefined;
    const version = `${stats.mtimeMs} ${stats.size}`;
    const key = `${label ?? ""} ${path}`;
    const before = known.get(key);
    if (before?.version === version) return before.copy;
    known.delete(key);
    const left = maxBytes - [...known.values()].reduce((sum, { copy }) => sum + (copy?.bytes ?? 0), 0);
    const own = folderOf(key);
    const copy = await writeCopy(path, label, { folder, own }, { maxBytes: left, goOn }).catch(async (error) => {
      await rm(own, { recursive: true, force: true });
      // The database says what is wrong with a file that cannot be unpacked.
      if (error !== tooLong && !packed.test(path)) throw error;
      goOn();
      return undefined;
    });
    known.set(key, { version, copy });
    return copy;
  }

  return {
    async decode(sql, goOn) {
      const notes: [string, (called: string) => string][] = [];
      const names = new Map<string, string>();
      const texts = new Map<number, { readonly end: number; readonly text: string }>();
      for (const { text, start, end, encoding } of namedFiles(sql)) {
        const label = encoding === undefined || told.test(encoding.text) ? undefined : labelOf(encoding.text);
        if (label === "unknown") continue;
        const copy = await copyOf(text, label, goOn);
        if (copy === undefined) continue;
        const how = `${copy.told}${copy.isGuess && !isJson.test(text) ? another : ""}`;
        notes.push([text, (called) => `${called} ${how}.`]);
        names.set(copy.path, text);
        texts.set(start, { end, text: copy.path });
        if (encoding !== undefined) texts.set(encoding.start, { end: encoding.end, text: "utf-8" });
      }
      let decoded = sql;
      for (const [start, { end, text }] of [...texts].toSorted(([one], [other]) => other - one))
        decoded = decoded.slice(0, start) + quoted(text, "'") + decoded.slice(end);
      // An error cuts a long line off, possibly within the name of a copy.
      const named = (text: string) =>
        [...names].reduce(
          (all, [path, name]) =>
            all.replaceAll(path, name).replaceAll(`${dirname(path)}/`, name.slice(0, -basename(name).length)),
          text,
        );
      return { sql: decoded, notes: notesOfFiles(notes), named };
    },
    needsCopy: async (name, goOn) => (await copyOf(name, undefined, goOn)) !== undefined,
  };
}

/** The decoder's own name for an encoding; it does not know `latin_1` and `cp-1250`. */
function labelOf(name: string): Bun.Encoding | "unknown" {
  const written = name.toLowerCase().replaceAll("_", "-");
  for (const label of [written, written.replaceAll("-", ""), written.replace("cp", "windows")]) {
    try {
      return new TextDecoder(label as Bun.Encoding).encoding as Bun.Encoding;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
  }
  return "unknown";
}

/** Writes a file as UTF-8, unpacked, into the folder `own` if it is in another encoding. */
async function writeCopy(
  path: string,
  label: Bun.Encoding | undefined,
  { folder, own }: { readonly folder: string; readonly own: string },
  bounds: { readonly maxBytes: number; readonly goOn: () => void },
): Promise<Copy | undefined> {
  await rm(own, { recursive: true, force: true });
  await using file = await open(path);
  const name = basename(path);
  const chunks = () => chunksOf(file, { name, ...bounds });
  const encoding = label === undefined ? await otherEncoding(chunks) : { label, told: `is read as ${label}` };
  if (encoding === undefined) return undefined;
  await mkdir(own, { recursive: true });
  const copy = join(own, name.replace(packed, ""));
  await using written = await open(copy, "wx");
  return { ...encoding, path: relative(folder, copy), bytes: await writeDecoded(chunks, encoding, written) };
}

async function writeDecoded(chunks: Chunks, { label }: FileEncoding, written: FileHandle): Promise<number> {
  const decoder = new TextDecoder(label);
  let bytes = 0;
  for await (const chunk of chunks()) bytes += await put(decoder.decode(chunk, { stream: true }));
  return bytes + (await put(decoder.decode()));

  async function put(text: string): Promise<number> {
    await written.appendFile(text);
    return Buffer.byteLength(text);
  }
}
