import { join } from "node:path";
import * as z from "zod";
import { foreignTask, sourcesOf, type TakenIn } from "../../core/taken-in.ts";
import type { Tool, ToolResult } from "../../core/tools/tool.ts";
import type { Workspace } from "../../core/workspace.ts";
import { keptFile } from "./own-files/kept-file.ts";

/** Each source with the run that brought it first. Earlier versions stored the sources alone. */
const stored = z.array(z.union([z.tuple([z.string(), z.string()]), z.string().transform((source) => [source, ""])]));

/**
 * Sources of what the files of a conversation may hold. A file outlives the task that wrote it and
 * is read by others beside it, so what the tasks and calls of a conversation took in is recorded
 * beside the workspace too, and not in their journals alone. Left out is what the run `but` itself
 * brought.
 */
export async function heldSources(workspace: Workspace, but?: string): Promise<TakenIn> {
  return ofOthers(parse(await fileOf(workspace).read()), but);
}

/**
 * Records that a run, or a call without one, may have put something from these sources there.
 * Returns those that others have.
 */
export async function holdSources(workspace: Workspace, by: string, sources: Iterable<string>): Promise<TakenIn> {
  const file = fileOf(workspace);
  let held = parse(await file.read());
  const missing = (now: Held) => [...new Set(sources)].filter((one) => !now.some(([source]) => source === one));
  if (missing(held).length > 0)
    await file.change((text) => {
      const now = parse(text);
      held = [...now, ...missing(now).map((one) => [one, by])];
      return JSON.stringify(held);
    });
  return ofOthers(held, by);
}

/** Who makes a call, and what it has taken in: a run, or nobody (`""`) for a call without one. */
type Caller = { readonly id: string; readonly takenIn: ReadonlySet<string> };

/**
 * Makes a call that may write what its caller knows and read what others wrote: records the one,
 * and counts the other among the sources of the result.
 */
export async function amongFiles(
  workspace: Workspace,
  { id, takenIn: known }: Caller,
  [tool, input]: readonly [Tool, unknown],
  call: () => Promise<ToolResult>,
): Promise<ToolResult> {
  // A command may write for hours what somebody else reads meanwhile.
  if (tool.effect(input) !== "pure")
    await holdSources(workspace, id, [...known, ...(tool.brings === undefined ? sourcesOf(tool) : [])]);
  const result = await call();
  const takenIn = result.takenIn ?? sourcesOf(tool);
  const others = (await holdSources(workspace, id, takenIn)).filter((source) => !known.has(source));
  return { ...result, takenIn: [...new Set([...takenIn, ...others])] };
}

type Held = readonly (readonly string[])[];

function ofOthers(held: Held, but: string | undefined): TakenIn {
  return held.flatMap(([source = "", by]) => (but !== undefined && by === but ? [] : [source]));
}

/** A record that cannot be read may have been of anything. */
function parse(text: string | undefined): Held {
  if (text === undefined) return [];
  try {
    return stored.parse(JSON.parse(text));
  } catch {
    return [[foreignTask, ""]];
  }
}

function fileOf({ metaRoot }: Workspace) {
  return keptFile(join(metaRoot, "taken-in.json"));
}
