import { join } from "node:path";
import { cancelChildrenRun } from "manyhands/internal/a2a/ask/cancel-children";
import { createPeers } from "manyhands/internal/a2a/ask/peers";
import { crashPointText } from "manyhands/internal/durable/sqlite/disk/crash-point";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { flowRun } from "manyhands/internal/flow/flow-run";
import { createArtifactStore } from "manyhands/internal/machine/workspace/artifacts/artifact-store";
import { entryForTest, fixedAgents, modelForTest } from "manyhands/internal/testing/flow";
import * as z from "zod";
import { flows } from "../flows.ts";

/** Settings of a process that executes the flows in `home`, as JSON in its first argument. */
export const flowChildSettings = z.strictObject({
  home: z.string(),
  model: z.string(),
  agents: z.record(z.string(), z.string()),
  crashAt: crashPointText.optional(),
});

const settings = flowChildSettings.parse(JSON.parse(process.argv[2] ?? "{}"));
const engine = createEmbeddedEngine({
  path: join(settings.home, "runs.db"),
  ...(settings.crashAt && { crashAt: settings.crashAt }),
});
const artifacts = createArtifactStore(join(settings.home, "artifacts"));
const peers = createPeers({ engine, artifacts, bounds: { patienceMs: 30_000 } });
const entries = Object.entries(settings.agents).map(([name, url]) => entryForTest(name, url));
const deps = { peers, agents: fixedAgents(entries), model: modelForTest(settings.model) };
engine.work(flows.flatMap((flow) => [flowRun(flow, deps), cancelChildrenRun(flow.name, peers)]));

for (;;) {
  const { total } = await engine.list({ statuses: ["queued", "running", "waiting"], limit: 1 });
  if (total === 0) break;
  await Bun.sleep(10);
}
await engine.close({ graceMs: 0 });
