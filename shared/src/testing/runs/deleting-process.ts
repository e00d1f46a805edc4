import { join } from "node:path";
import { crashPointText } from "../../durable/sqlite/disk/crash-point.ts";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";
import { createArtifactStore } from "../../machine/workspace/artifacts/artifact-store.ts";
import { createHomeFiles } from "../../machine/workspace/home-files.ts";
import { createDeletions } from "../../runs/deletions.ts";
import { sweep } from "../../runs/sweep.ts";

/**
 * Deletes the runs of a home whose ids follow it, or sweeps it as it would tomorrow if there are
 * none; kills itself at `CRASH_AT`.
 */
const [home = "", ...ids] = process.argv.slice(2);
const crashAt = crashPointText.optional().parse(process.env.CRASH_AT);
const engine = createEmbeddedEngine({ path: join(home, "runs.db"), ...(crashAt && { crashAt }) });
const files = createHomeFiles(home, createArtifactStore(join(home, "artifacts")));
const deletions = createDeletions({ engine, files });
for (const id of ids) {
  const run = await engine.get(id);
  if (run !== undefined) await deletions.run(run);
}
if (ids.length === 0) {
  const retention = { runsMs: 0, journalsMs: 0, workspacesMs: 0, artifactsMs: 0, everyMs: 1 };
  await sweep({ engine, files, retention, dedupeMs: 0, now: () => Date.now() + 86_400_000 });
}
await engine.close();
