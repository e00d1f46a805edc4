import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentApp } from "manyhands/internal/a2a/server/agent-app";
import { localCaller } from "manyhands/internal/core/caller";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { serve } from "manyhands/internal/http/serve";
import { createArtifactStore } from "manyhands/internal/machine/workspace/artifacts/artifact-store";
import { keptFile } from "manyhands/internal/machine/workspace/own-files/kept-file";
import { createProjectionCache } from "manyhands/internal/runs/projection-cache";
import { createQuotas } from "manyhands/internal/runs/quotas";
import { openRuns } from "manyhands/internal/runs/runs";
import { type McpAdapterDeps, mcpAdapter } from "../../../shared/src/mcp/server/mcp-adapter.ts";
import { mcpApp } from "../../../shared/src/server/protocols/mcp-app.ts";
import { definition } from "../../a2a/agent-server.ts";
import { suitePrompts, suiteResources } from "./suite-offers.ts";
import { suiteTools } from "./suite-tools.ts";

/**
 * Our MCP server behind an agent's guard, on a free port, with the tools, resources and prompts
 * that the suite asks for by name.
 */
export type ConformanceServer = AsyncDisposable & { readonly url: string };

/** Starts the server. */
export async function startConformanceServer({
  sessions,
  identify = () => localCaller,
}: Partial<Pick<McpAdapterDeps, "sessions" | "identify">> = {}): Promise<ConformanceServer> {
  const home = await mkdtemp(join(tmpdir(), "manyhands-conformance-"));
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  const artifacts = createArtifactStore(join(home, "artifacts"));
  const runnables = { all: () => [], ofKind: () => undefined };
  const served = serve(
    { fetch: (request) => app.fetch(request) },
    { port: 0, graceMs: 200, close: () => engine.close({ graceMs: 100 }) },
  );
  const publicUrl = served.url.origin;
  const report = (bug: unknown) => console.error(bug);
  const projections = createProjectionCache(engine);
  const runs = openRuns({ engine, artifacts, projections, runnables, quotas: createQuotas(), publicUrl });
  const nothing = () => Promise.reject(new Error("There are no servers here."));
  const app = agentApp({
    definition,
    facts: { publicUrl, model: { name: "none", provider: "rehearsal" }, sandbox: "none" },
    engine,
    artifacts,
    identify,
    report,
    mcp: mcpApp({
      agent: definition.name,
      servers: "all",
      host: { add: nothing, remove: nothing },
      mountKey: keptFile(join(home, "mcp-mount-key")),
      identify,
      adapter: mcpAdapter({
        runs,
        runnables,
        engine,
        artifacts,
        version: definition.version,
        report,
        tools: suiteTools,
        resources: suiteResources,
        prompts: suitePrompts,
        ...(sessions && { sessions }),
        listMs: 50,
        identify,
      }),
      report,
      log: { info: () => undefined },
    }),
  });
  return {
    url: `${publicUrl}/mcp`,
    async [Symbol.asyncDispose]() {
      await served.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}
