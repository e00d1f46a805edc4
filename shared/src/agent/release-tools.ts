import type { AgentDefinition } from "../core/agent.ts";
import type { Engine } from "../core/runs/engine.ts";
import type { Run } from "../core/runs/run.ts";
import type { Workspace, Workspaces } from "../core/workspace.ts";

/** What releasing a conversation's tools needs of the server. */
export type ReleaseDeps = Workspaces & { readonly engine: Pick<Engine, "list"> };

/**
 * Releases whatever an agent's tools keep for a conversation, unless another task of the
 * conversation is still running.
 */
export async function releaseTools(
  agent: AgentDefinition,
  { id, principal, contextId }: Pick<Run, "id" | "principal" | "contextId">,
  deps: ReleaseDeps,
): Promise<void> {
  const statuses = ["queued", "running", "waiting", "paused"] as const;
  const { runs } = await deps.engine.list({ kind: agent.name, principal, contextId, statuses, limit: 2 });
  if (runs.some((run) => run.id !== id)) return;
  await releaseFrom(agent, await deps.openWorkspace(principal, contextId));
}

/** Releases whatever an agent's tools keep of a workspace. */
export async function releaseFrom(agent: AgentDefinition, workspace: Workspace): Promise<void> {
  await Promise.allSettled([
    ...agent.tools.map((tool) => tool.release?.(workspace)),
    agent.moreTools?.release(workspace),
  ]);
}

/**
 * The engine, with a `cancel` that also releases the task's tools, since a waiting task executes no
 * code that could. `opened` is the agent with its tools, undefined while no task has used them.
 */
export function releasingEngine(
  engine: Engine,
  opened: () => Promise<AgentDefinition | undefined>,
  deps: Omit<ReleaseDeps, "engine">,
): Engine {
  return {
    ...engine,
    async cancel(runId) {
      await engine.cancel(runId);
      const [run, agent] = await Promise.all([engine.get(runId), opened()]);
      if (run !== undefined && agent !== undefined) await releaseTools(agent, run, { ...deps, engine });
    },
  };
}
