import { join } from "node:path";
import { AppError } from "../../../core/errors.ts";
import type { Owner } from "../held-folder.ts";
import type { Manifest, Marker, PackedFile } from "./manifest.ts";
import { type PackWriter, writePack } from "./pack.ts";
import { walk } from "./walk.ts";

/** What a workspace holds now, and the pack of what no earlier pack has. */
export type Packed = {
  readonly manifest: Manifest;
  readonly seen: Marker["seen"];
  readonly pack: { readonly id: string; readonly file: string } | undefined;
  /** Whether nothing is different. */
  readonly isSame: boolean;
};

/** Beyond these, everything is packed anew. */
const maxPacks = 50;
const leastUsed = 0.5;

/** Packs what changed in a workspace's folder since `old`, into a file in `staging`. */
export async function packChanges(
  folder: string,
  old: Pick<Marker, "manifest" | "seen"> | undefined,
  {
    staging,
    maxBytes,
    user,
  }: { readonly staging: string; readonly maxBytes: number; readonly user: Owner | undefined },
): Promise<Packed> {
  const known = new Map((isWorn(old?.manifest) ? [] : (old?.manifest?.files ?? [])).map((file) => [file.path, file]));
  const id = Bun.randomUUIDv7();
  const file = join(staging, "pack");
  const folders: Manifest["folders"] = [];
  const links: Manifest["links"] = [];
  const files: PackedFile[] = [];
  const seen: Record<string, string> = {};
  let pack: PackWriter | undefined;
  let bytes = 0;
  const found = {
    folders,
    links,
    async file({ path, stamp, ...about }: Parameters<Parameters<typeof walk>[1]["file"]>[0], at: string) {
      bytes += about.size;
      if (bytes > maxBytes) throw new AppError("too_large", `The workspace is larger than ${maxBytes} bytes.`);
      const before = known.get(path);
      if (before !== undefined && old?.seen[path] === stamp) files.push(before);
      else {
        pack ??= writePack(file, maxBytes);
        const added = await pack.add(at);
        if (added === undefined) return;
        files.push({ path, mode: about.mode, modifiedAt: about.modifiedAt, ...added, pack: id });
      }
      seen[path] = stamp;
    },
  };
  try {
    await walk(folder, found, process.getuid?.() === 0 ? user?.uid : undefined);
  } finally {
    await pack?.end();
  }
  for (const list of [folders, links, files]) list.sort((one, other) => (one.path < other.path ? -1 : 1));
  const sizes = { ...old?.manifest?.packs, ...(pack !== undefined && { [id]: pack.size() }) };
  const used = new Set(files.map((one) => one.pack));
  const packs = Object.fromEntries(Object.entries(sizes).filter(([one]) => used.has(one)));
  const manifest: Manifest = { version: 1, folders, links, files, packs };
  return {
    manifest,
    seen,
    pack: used.has(id) ? { id, file } : undefined,
    isSame: JSON.stringify(manifest) === JSON.stringify(old?.manifest),
  };
}

/** Whether much of what the packs hold is not needed any more, or there are many. */
function isWorn(manifest: Manifest | null | undefined): boolean {
  if (manifest == null) return false;
  const sizes = Object.values(manifest.packs);
  const packed = sizes.reduce((sum, size) => sum + size, 0);
  const used = manifest.files.reduce((sum, { size }) => sum + size, 0);
  return sizes.length > maxPacks || used < packed * leastUsed;
}
