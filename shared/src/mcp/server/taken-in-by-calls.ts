import { join } from "node:path";
import * as z from "zod";
import { foreignTask, sourcesOf, type TakenIn } from "../../core/taken-in.ts";
import type { Tool, ToolResult } from "../../core/tool.ts";
import type { Workspace } from "../../core/workspace.ts";

const stored = z.array(z.string());

/** What the calls of a caller have taken in: they have no journal, so it is kept beside the workspace. */
export async function takenInByCalls(workspace: Workspace): Promise<TakenIn> {
  const file = Bun.file(fileOf(workspace));
  if (!(await file.exists())) return [];
  return stored.safeParse(await file.json().catch(() => undefined)).data ?? [foreignTask];
}

/** Notes what a call's result brought. */
export async function noteTakenIn(workspace: Workspace, tool: Tool, { takenIn }: ToolResult): Promise<void> {
  const known = await takenInByCalls(workspace);
  const all = [...new Set([...known, ...(takenIn ?? sourcesOf(tool))])];
  if (all.length > known.length) await Bun.write(fileOf(workspace), JSON.stringify(all));
}

function fileOf({ metaRoot }: Workspace): string {
  return join(metaRoot, "taken-in.json");
}
