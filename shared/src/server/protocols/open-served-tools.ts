import type { AgentDefinition } from "../../core/agent.ts";
import type { Engine } from "../../core/runs/engine.ts";
import type { ArtifactStore } from "../../core/workspace.ts";
import { type DirectToolsDeps, directTools } from "../../mcp/server/direct-tools.ts";
import type { McpServerDeps } from "../../mcp/server/serving.ts";
import { createProjectionCache } from "../../runs/projection-cache.ts";
import type { Quotas } from "../../runs/quotas.ts";
import type { Runnable } from "../../runs/runnable.ts";
import { openRuns } from "../../runs/runs.ts";

type ServedDeps = DirectToolsDeps & {
  readonly definition: AgentDefinition;
  readonly engine: Engine;
  readonly artifacts: ArtifactStore;
  readonly publicUrl: string;
  readonly quotas: Quotas;
  readonly report: (bug: unknown) => void;
};

/**
 * What an agent's MCP server offers: the agent's tools, and the agent itself as a tool that takes a
 * task.
 */
export function openServedTools(deps: ServedDeps): McpServerDeps {
  const { definition, engine, artifacts, quotas, publicUrl, report } = deps;
  const { name, title, description, version, skills } = definition;
  const itself: Runnable = {
    type: "agent",
    name,
    kind: name,
    title,
    description,
    version,
    skills,
    admit: () => ({}),
  };
  const runnables = { all: () => [itself], ofKind: (kind: string) => (kind === name ? itself : undefined) };
  const projections = createProjectionCache(engine);
  const runs = openRuns({ engine, artifacts, projections, runnables, quotas, publicUrl });
  return { runs, runnables, engine, artifacts, version, report, tools: directTools(deps) };
}
