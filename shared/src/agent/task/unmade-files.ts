import { textOf } from "../../core/message.ts";
import { filesToMake } from "../../core/text/files-in-text.ts";
import { failure, type ToolResult } from "../../core/tools/tool.ts";
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

/** What is told of them to a model that takes its task for done. */
export function notMade(files: readonly string[]): string {
  return `The task asks for ${files.join(", ")}, which does not exist: no call has made it. Make it now. If it is elsewhere or has another name, or cannot be made, end again and say so.`;
}

/**
 * The result of a call that ends its task, unless it ends it as a success without a file that the
 * task asks for: the model is told once. Only for use inside the call's step.
 */
export async function checkedEnd(
  name: string,
  result: ToolResult,
  task: AgentState,
  workspace: Workspace,
): Promise<ToolResult> {
  if (result.end?.status !== "success") return result;
  const isTold = task.messages
    .slice(task.messages.indexOf(task.goal))
    .some((message) => message.role === "tool" && message.name === name);
  const unmade = isTold ? [] : await unmadeFiles(task, async () => workspace);
  return unmade.length === 0 ? result : failure(notMade(unmade));
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).toLowerCase();
}
