import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { AppError, errnoOf } from "../../core/errors.ts";
import { sha256Of } from "../../core/text/sha256.ts";
import type { Workspace } from "../../core/workspace.ts";
import { readJson, writeJson } from "../../machine/workspace/own-files/json-file.ts";
import { stageFile } from "../../machine/workspace/staged-file.ts";
import { ownerOf, type WorkspacePath } from "../../machine/workspace/workspace-file.ts";
import { applyStaged, type ContentHash, currentHash } from "./apply-staged.ts";

const maxChanges = 100;
const maxSnapshotBytes = 64 * 1024 ** 2;
const rememberedCalls = 32;

const hashSchema = z.string().nullable();

/**
 * `snapshot` numbers the file with the previous content, null when there was no file; `left` is the
 * hash of the content after the edit.
 */
const changeSchema = z.strictObject({ snapshot: z.int().nullable(), size: z.int(), left: hashSchema });

const stateSchema = z.strictObject({
  changes: z.array(changeSchema),
  calls: z.array(z.strictObject({ key: z.string(), text: z.string() })),
  next: z.int(),
});

const recordSchema = z.strictObject({
  path: z.string(),
  settled: stateSchema,
  /** The newest edit: it has been made once its staged file is gone. */
  pending: z.strictObject({ number: z.int(), to: hashSchema, state: stateSchema }).nullable(),
});

type State = z.output<typeof stateSchema>;

/** An edit of one file. Null stands for a missing file. */
export type Edit = {
  /** The same at every attempt of the same call. */
  readonly key: string;
  /** The result for the caller. */
  readonly text: string;
  readonly before: Uint8Array | null;
  readonly after: Uint8Array | null;
  /** Permission bits and owner of the new content; those of a new file by default. */
  readonly stats?: { readonly mode: number; readonly uid: number; readonly gid: number };
  /** Reverts the last change instead of adding one. */
  readonly undo?: boolean;
  /** The call whose recorded result is dropped with this edit, which reverts its work. */
  readonly forget?: string;
};

/** The edits of one file, across restarts. Only one caller at a time may use it. */
export interface EditHistory {
  /** The result of the call with this key, when its edit has been made. */
  answerTo(key: string): string | undefined;
  /**
   * The content before the last edit that was not undone, and the hash of the content after that
   * edit.
   */
  lastChange(): Promise<{ readonly before: Uint8Array | null; readonly left: ContentHash } | undefined>;
  /**
   * Makes the edit and records it, both or neither, even when the process is killed in between.
   * Rejects with `conflict` when the file no longer matches `before`.
   */
  commit(edit: Edit): Promise<void>;
}

/**
 * Opens the history of a file and determines whether the edit during which a process was killed has
 * been made.
 */
export async function openEditHistory(workspace: Workspace, place: WorkspacePath): Promise<EditHistory> {
  const folder = join(workspace.metaRoot, "edits", sha256Of(place.relative).slice(0, 32));
  const file = join(folder, "history.json");
  const staged = (number: number) => join(folder, `${number}.after`);
  const snapshot = (number: number) => join(folder, `${number}.before`);
  await mkdir(folder, { recursive: true, mode: 0o700 });

  const save = (settled: State, pending: z.output<typeof recordSchema>["pending"]) =>
    writeJson(file, { path: place.relative, settled, pending } satisfies z.output<typeof recordSchema>);

  async function recover(): Promise<State> {
    const record = await readJson(file, recordSchema);
    if (record === undefined) return { changes: [], calls: [], next: 1 };
    const { settled, pending } = record;
    if (pending === null) return settled;
    if (!(await isThere(staged(pending.number)))) return pending.state;
    const made = (await currentHash(workspace, place)) === pending.to;
    await save(made ? pending.state : settled, null);
    await rm(staged(pending.number), { force: true });
    return made ? pending.state : settled;
  }

  let state = await recover();
  return {
    answerTo: (key) => state.calls.find((call) => call.key === key)?.text,
    async lastChange() {
      const change = state.changes.at(-1);
      if (change === undefined) return undefined;
      return { before: change.snapshot === null ? null : await readFile(snapshot(change.snapshot)), left: change.left };
    },
    async commit(edit) {
      const number = state.next;
      const owner = edit.stats ?? (await ownerOf(workspace));
      const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
      if (edit.before !== null && !edit.undo) await stageFile(snapshot(number), edit.before, own, 0o600);
      await stageFile(staged(number), edit.after ?? new Uint8Array(), owner, edit.stats?.mode);
      const next = nextState(state, edit);
      const change = { from: edit.before && sha256Of(edit.before), to: edit.after && sha256Of(edit.after) };
      await save(state, { number, to: change.to, state: next });
      if (!(await applyStaged(workspace, place, staged(number), change))) {
        await save(state, null);
        await rm(staged(number), { force: true });
        throw new AppError("conflict", `The file ${place.relative} changed while it was being edited. View it again.`);
      }
      state = next;
      await removeUnused(folder, state);
    },
  };
}

function nextState(state: State, { key, text, before, after, undo, forget }: Edit): State {
  const change = {
    snapshot: before === null ? null : state.next,
    size: before?.byteLength ?? 0,
    left: after && sha256Of(after),
  };
  return {
    changes: undo ? state.changes.slice(0, -1) : withinBounds([...state.changes, change]),
    calls: [...state.calls.filter((call) => call.key !== forget), { key, text }].slice(-rememberedCalls),
    next: state.next + 1,
  };
}

function withinBounds(changes: State["changes"]): State["changes"] {
  let kept = changes.slice(-maxChanges);
  while (kept.length > 1 && kept.reduce((sum, { size }) => sum + size, 0) > maxSnapshotBytes) kept = kept.slice(1);
  return kept;
}

async function removeUnused(folder: string, { changes }: State): Promise<void> {
  const used = new Set(changes.map(({ snapshot }) => `${snapshot}.before`));
  for (const name of await readdir(folder))
    if (name.endsWith(".before") && !used.has(name)) await rm(join(folder, name), { force: true });
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}
