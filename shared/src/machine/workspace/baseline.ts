import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { AppError, unlessMissing } from "../../core/errors.ts";
import { sha256Of } from "../../core/text/sha256.ts";
import type { Workspace } from "../../core/workspace.ts";
import { keepContent } from "./kept-content.ts";
import { readJson, writeJson } from "./own-files/json-file.ts";
import { openFile } from "./workspace-file.ts";

/** Content larger than this many bytes is recorded by its hash alone. */
const largest = 1024 ** 2;

const baselineSchema = z.strictObject({
  root: z.string(),
  files: z.array(z.strictObject({ path: z.string(), sha256: z.string() })),
});

/**
 * Files that were imported into a workspace together: a single file that was sent, with `root` its
 * own path, or those of an unpacked or cloned project, with `root` their folder. Paths are relative
 * to the workspace.
 */
export type Baseline = z.output<typeof baselineSchema> & {
  /** Milliseconds since 1970. */
  readonly arrivedAt: number;
};

/**
 * Records files as they were imported, so that changes to them can be reported later. `contentOf`
 * returns a file's content, from a source that no tool can change. Recording the same root again
 * replaces its earlier record.
 */
export async function recordBaseline(
  workspace: Workspace,
  baseline: Omit<Baseline, "arrivedAt">,
  contentOf: (path: string) => Blob,
): Promise<void> {
  const folder = join(workspace.metaRoot, "pristine");
  const name = sha256Of(baseline.root);
  // Written first, because content that no record names may be swept at any time.
  await writeJson(join(folder, `${name}.json`), baseline);
  for (const { path, sha256 } of baseline.files) {
    const content = contentOf(path);
    if (content.size <= largest) await keepContent(workspace, sha256, content);
  }
}

/** The imports into a workspace, in the order of their roots' names. */
export async function baselinesOf(workspace: Workspace): Promise<Baseline[]> {
  const folder = join(workspace.metaRoot, "pristine");
  const names = ((await readdir(folder).catch(unlessMissing)) ?? []).filter((name) => name.endsWith(".json"));
  const baselines = await Promise.all(
    names.map(async (name) => {
      const baseline = await readJson(join(folder, name), baselineSchema);
      return baseline === undefined ? [] : [{ ...baseline, arrivedAt: (await stat(join(folder, name))).mtimeMs }];
    }),
  );
  return baselines.flat().sort((a, b) => (a.root < b.root ? -1 : 1));
}

/**
 * Returns a function that says whether a file of the workspace was imported and has not changed
 * since.
 */
export async function unchangedSinceBaseline(workspace: Workspace): Promise<(path: string) => Promise<boolean>> {
  const arrived = new Map(
    (await baselinesOf(workspace)).flatMap(({ files }) => files.map((file) => [file.path, file.sha256])),
  );
  return async (path) => {
    const sha256 = arrived.get(path);
    return sha256 !== undefined && sha256 === (await hashNow(workspace, path));
  };
}

async function hashNow(workspace: Workspace, path: string): Promise<string | undefined> {
  try {
    await using file = await openFile(workspace, path);
    const hash = new Bun.CryptoHasher("sha256");
    for await (const chunk of file.handle.readableWebStream()) hash.update(chunk);
    return hash.digest("hex");
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}
