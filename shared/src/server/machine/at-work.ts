import { basename, dirname } from "node:path";
import type { Engine } from "../../core/runs/engine.ts";
import type { Workspace } from "../../core/workspace.ts";
import { workspaceKey } from "../../machine/workspace/open-workspace.ts";

/** So many tasks of a principal are looked at; with more, each conversation counts as at work. */
const mostTasks = 500;

/**
 * Whether a task of an agent's conversation has not ended, as one that waits for a person or for
 * another agent. Opens no workspace.
 */
export async function isAtWork(
  agent: string,
  { principal, root }: Pick<Workspace, "principal" | "root">,
  engine: Pick<Engine, "list">,
): Promise<boolean> {
  const statuses = ["queued", "running", "waiting", "paused"] as const;
  const { runs } = await engine.list({ kind: agent, principal, statuses, limit: mostTasks });
  const key = basename(dirname(root));
  return runs.length === mostTasks || runs.some((run) => workspaceKey(`${agent}/${principal}`, run.contextId) === key);
}
