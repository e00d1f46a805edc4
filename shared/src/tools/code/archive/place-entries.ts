import { mkdir, readdir, realpath, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { AppError, errnoOf } from "../../../core/errors.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { recordBaseline } from "../../../machine/workspace/baseline.ts";
import { holdFolder } from "../../../machine/workspace/held-folder.ts";
import { isProtected } from "../../../machine/workspace/protected-names.ts";
import { kindOf, ownerOf, workspacePathOf } from "../../../machine/workspace/workspace-file.ts";
import { forgetAside } from "../checkpoints/projects-aside.ts";
import type { ArchiveEntry } from "./archive-entry.ts";
import { type Extracted, extract } from "./extract.ts";
import { defaultExtractLimits, type ExtractLimits } from "./extract-room.ts";
import type { LinksOutside } from "./make-links.ts";

/** Entries that will become a folder of a workspace, and their packed size in bytes so far. */
export type Placing = {
  readonly workspace: Workspace;
  readonly entries: AsyncIterable<ArchiveEntry>;
  readonly packedBytes: () => number;
  /**
   * The new folder; by default, the one folder that contains everything in the archive, or else
   * `otherwise`.
   */
  readonly into?: string;
  readonly otherwise: string;
  readonly signal: AbortSignal;
  readonly limits?: ExtractLimits;
  /** Rejected by default. */
  readonly linksOutside?: LinksOutside;
};

/** The result of placing an archive: a folder, relative to the workspace, and its content. */
export type Unpacked = Extracted & { readonly folder: string };

/**
 * Turns an archive's entries into a new folder of the workspace, all that `extract` takes or
 * nothing, and records its files, except git's own, as the baseline. A single folder that contains
 * everything is stripped. Rejects with `rejected`, `too_large`, with `conflict` when the folder
 * exists, or the signal's reason.
 */
export async function placeEntries(placing: Placing): Promise<Unpacked> {
  const { workspace, entries, packedBytes, signal, limits = defaultExtractLimits, linksOutside = "refuse" } = placing;
  const staging = join(workspace.metaRoot, "staging", crypto.randomUUID());
  await mkdir(staging, { recursive: true, mode: 0o700 });
  try {
    const extracted = await extract(entries, await realpath(staging), { packedBytes, limits, signal, linksOutside });
    return await moveIn(staging, extracted, placing);
  } catch (error) {
    signal.throwIfAborted();
    throw asRejected(error);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function moveIn(staging: string, extracted: Extracted, placing: Placing): Promise<Unpacked> {
  const { workspace, into, otherwise } = placing;
  const only = await onlyFolder(staging);
  const place = await workspacePathOf(workspace, into ?? only ?? otherwise);
  if (isProtected(place.relative)) throw new AppError("forbidden", `The name ${place.relative} is protected.`);
  const taken = new AppError(
    "conflict",
    `There is a ${place.relative || "workspace"} already. Give a new folder as \`into\`.`,
  );
  if (place.name === "" || !(await isFree(workspace, place.relative))) throw taken;
  const placed = (path: string) => `${place.relative}/${only === undefined ? path : path.slice(only.length + 1)}`;
  const files = extracted.files.map((file) => ({ ...file, path: placed(file.path) }));
  const content = only === undefined ? staging : join(staging, only);
  // git does not accept a patch that changes its own files.
  const kept = files.filter(({ path }) => !/(?:^|\/)\.git\//i.test(path));
  const baseline = { root: place.relative, files: kept.map(({ path, sha256 }) => ({ path, sha256 })) };
  await recordBaseline(workspace, baseline, (path) => Bun.file(join(content, path.slice(place.relative.length + 1))));
  await using parent = await holdFolder(workspace.root, place.folders, await ownerOf(workspace));
  await rename(content, parent.at(place.name)).catch((error: unknown) => {
    throw ["ENOTEMPTY", "EEXIST", "ENOTDIR"].includes(errnoOf(error) ?? "") ? taken : error;
  });
  await forgetAside(workspace, place.relative);
  await workspace.adopt(place.relative);
  const { leftOut, misnamed } = extracted;
  return { files, leftOut: leftOut.map(placed).sort(), misnamed, folder: place.relative };
}

/**
 * Whether nothing is there, or an empty folder, as git makes for a submodule. A rename replaces it.
 */
async function isFree(workspace: Workspace, relative: string): Promise<boolean> {
  const kind = await kindOf(workspace, relative);
  if (kind !== "folder") return kind === "missing";
  return (await readdir(join(workspace.root, relative))).length === 0;
}

/** The one folder that contains everything. */
async function onlyFolder(staging: string): Promise<string | undefined> {
  const [first, ...others] = await readdir(staging, { withFileTypes: true });
  if (first === undefined) throw new AppError("rejected", "There is nothing in it.");
  return others.length === 0 && first.isDirectory() ? first.name : undefined;
}

/** Archive readers throw plain errors; errors of the system are not the archive's fault. */
function asRejected(error: unknown): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  const ofSystem = /^E[A-Z]+$/.test(errnoOf(error) ?? "");
  return ofSystem ? error : new AppError("rejected", `It is damaged or made up: ${error.message}`, { cause: error });
}
