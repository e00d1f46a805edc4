import { textOf } from "../../core/message.ts";
import { filesToMake } from "../../core/text/files-in-text.ts";
import type { Workspace } from "../../core/workspace.ts";
import { listFiles } from "../../machine/workspace/list-files.ts";
import type { AgentState } from "./agent-state.ts";

/**
 * The files that a task's message asks to be made and the workspace does not have, in any folder.
 */
export async function unmadeFiles({ goal }: AgentState, openWorkspace: () => Promise<Workspace>): Promise<string[]> {
  const parts = goal.role === "user" ? goal.parts : [];
  const wanted = filesToMake(textOf(parts));
  if (wanted.length === 0) return [];
  const { files } = await listFiles(await openWorkspace());
  const there = new Set(files.map(({ path }) => baseName(path)));
  return wanted.filter((name) => !there.has(baseName(name)));
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).toLowerCase();
}
