import { readFile, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { errnoOf } from "../../core/errors.ts";
import { sha256Of } from "../../core/text/sha256.ts";
import { confinementFingerprint, pythonFingerprint } from "../../machine/confinement/fingerprint.ts";
import { replaceFile } from "../../machine/workspace/own-files/replace-file.ts";
import { pythonShape } from "../../tools/python/find-python.ts";

const shape = z.strictObject({
  confinement: z.string(),
  python: z.string(),
  found: z.strictObject({
    tier: z.enum(["srt", "bwrap", "landlock"]),
    profile: z.enum(["own-proc", "no-proc"]).optional(),
    description: z.string(),
    python: pythonShape,
  }),
});

/** What a start found out about this machine. */
export type FoundMachine = z.output<typeof shape>["found"];

/** Keeps what a start found out, for the next ones on the same machine. */
export type MachineMemory = {
  /** Undefined if nothing is known, or if anything it depends on has changed. */
  recall(): Promise<FoundMachine | undefined>;
  remember(found: FoundMachine): Promise<void>;
  forget(): Promise<void>;
};

/**
 * The memory for servers with these settings whose workspaces are in `folder`, in the cache folder
 * of their user. It is only what cards say: commands are confined by what this process has tried
 * itself.
 */
export function openMachineMemory(folder: string, settings: unknown): MachineMemory {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  const path = join(cache, "manyhands", `machine-${sha256Of(JSON.stringify(settings)).slice(0, 16)}.json`);
  const confinement = confinementFingerprint(folder);
  return {
    async recall() {
      const kept = shape.safeParse(await ownJson(path));
      if (!kept.success || kept.data.confinement !== confinement) return undefined;
      const { python, found } = kept.data;
      return python === pythonFingerprint(found.python.folders) ? found : undefined;
    },
    async remember(found) {
      const python = pythonFingerprint(found.python.folders);
      const kept: z.input<typeof shape> = { confinement, python, found };
      await unlessRefused(replaceFile(path, JSON.stringify(kept)));
    },
    forget: () => unlessRefused(rm(path)),
  };
}

/** The content of a file of our own user; undefined if there is none. */
async function ownJson(path: string): Promise<unknown> {
  try {
    const { uid } = await stat(path);
    return uid === process.geteuid?.() ? JSON.parse(await readFile(path, "utf8")) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || errnoOf(error) !== undefined) return undefined;
    throw error;
  }
}

/** A cache folder that cannot be written only makes the next start as slow as this one. */
async function unlessRefused(writing: Promise<void>): Promise<void> {
  await writing.catch((error) => {
    if (errnoOf(error) === undefined) throw error;
  });
}
