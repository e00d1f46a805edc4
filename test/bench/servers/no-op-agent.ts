import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentApp } from "manyhands/internal/a2a/server/agent-app";
import { localCaller } from "manyhands/internal/core/caller";
import type { AgentInput } from "manyhands/internal/core/runs/task";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { createArtifactStore } from "manyhands/internal/machine/workspace/artifacts/artifact-store";

/**
 * One of our agents that does nothing, as a separate process: it answers with its input, after the
 * number of milliseconds that follows "wait" in the text and as many events as follow "emit".
 * Prints its address. For the benches.
 */
const home = process.env.MANYHANDS_HOME ?? mkdtempSync(join(tmpdir(), "no-op-"));
const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
const definition = {
  name: "no-op",
  title: "No-op",
  description: "Does nothing.",
  version: "1.0.0",
  skills: [{ id: "nothing", name: "Nothing", description: "Does nothing.", tags: ["nothing"], examples: [] }],
};
engine.work(
  [
    {
      kind: definition.name,
      async execute(run, input) {
        const [part] = (input as AgentInput).message.parts;
        const text = part?.type === "text" ? part.text : "";
        const waitMs = Number(/wait (\d+)/.exec(text)?.[1] ?? 0);
        if (waitMs > 0) await run.sleep(waitMs);
        const events = Number(/emit (\d+)/.exec(text)?.[1] ?? 0);
        for (let step = 1; step <= events; step++) run.emit({ type: "step-started", step, maxSteps: events });
        const parts = [{ type: "text", text }];
        run.emit({ type: "artifact-added", artifactId: `${run.id}/answer`, name: "answer", parts });
        return { answer: text };
      },
    },
  ],
  { concurrency: 1_000 },
);
const server = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch: (request) => app.fetch(request) });
const app = agentApp({
  definition,
  facts: {
    publicUrl: `http://127.0.0.1:${server.port}`,
    model: { name: "none", provider: "none" },
    sandbox: "none",
  },
  engine,
  artifacts: createArtifactStore(join(home, "artifacts")),
  identify: () => localCaller,
  report: (bug) => console.error(bug),
});
console.log(`ready http://127.0.0.1:${server.port}`);
process.once("SIGTERM", async () => {
  await server.stop(true);
  await engine.close({ graceMs: 0 });
});
