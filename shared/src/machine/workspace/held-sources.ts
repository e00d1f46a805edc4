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
  return parse(await fileOf(workspace).read()).flatMap(([source = "", by]) =>
    but !== undefined && by === but ? [] : [source],
  );
}

/** Records that a run, or a call without one, may have put something from these sources there. */
export async function holdSources(workspace: Workspace, by: string, sources: Iterable<string>): Promise<void> {
  const wanted = new Set(sources);
  if (wanted.size === 0) return;
  const file = fileOf(workspace);
  const known = new Set(parse(await file.read()).map(([source]) => source));
  if ([...wanted].every((source) => known.has(source))) return;
  await file.change((now) => {
    const held = parse(now);
    const there = new Set(held.map(([source]) => source));
    return JSON.stringify([...held, ...[...wanted].filter((one) => !there.has(one)).map((one) => [one, by])]);
  });
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
  const ahead = tool.brings === undefined && tool.effect(input) !== "pure" ? sourcesOf(tool) : [];
  await holdSources(workspace, id, [...known, ...ahead]);
  const result = await call();
  const takenIn = result.takenIn ?? sourcesOf(tool);
  await holdSources(workspace, id, takenIn);
  const others = (await heldSources(workspace, id)).filter((source) => !known.has(source));
  return { ...result, takenIn: [...new Set([...takenIn, ...others])] };
}

/** A record that cannot be read may have been of anything. */
function parse(text: string | undefined): readonly (readonly string[])[] {
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
