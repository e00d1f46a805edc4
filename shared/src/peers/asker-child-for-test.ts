import { join } from "node:path";
import * as z from "zod";
import { crashPointText } from "../durable/embedded/crash-point.ts";
import { createEmbeddedEngine } from "../durable/embedded/embedded-engine.ts";
import type { Engine } from "../durable/engine.ts";
import type { Run } from "../durable/run.ts";
import type { Json } from "../json.ts";
import { createArtifactStore } from "../workspace/artifact-store.ts";
import { askAgent } from "./ask-agent.ts";
import { createPeers } from "./peers.ts";
import { recalling, recallingEngine, recallRun } from "./recall.ts";

/** What a process that asks is told; `cancel` has it cancel the run as soon as the agent has the message. */
export const askerSettings = z.strictObject({
  home: z.string(),
  url: z.string(),
  cancel: z.boolean(),
  crashAt: crashPointText.optional(),
});

/** Executes what runs there are in `home`, and ends when all of them have ended. */
async function main({ home, url, cancel, crashAt }: z.output<typeof askerSettings>): Promise<void> {
  const own = createEmbeddedEngine({ path: join(home, "runs.db"), ...(crashAt && { crashAt }) });
  const peers = createPeers({ engine: own, artifacts: createArtifactStore(join(home, "artifacts")) });
  const request = { agent: { name: "helper", url }, parts: [{ type: "text", text: "Do it." }], hops: 0 } as const;
  const asker = {
    kind: "asker",
    execute: async (run: Run) => (await askAgent(run, request, peers)) as unknown as Json,
  };
  own.work([recalling(asker, peers), recallRun("asker", peers)]);
  const engine = recallingEngine(own, "asker");
  for (;;) {
    const statuses = ["queued", "running", "waiting"] as const;
    const { runs } = await engine.list({ statuses, limit: 10 });
    if (runs.length === 0) break;
    for (const run of runs)
      if (cancel && run.kind === "asker" && (await isAccepted(engine, run.id))) await engine.cancel(run.id);
    await Bun.sleep(5);
  }
  await own.close({ graceMs: 100 });
}

async function isAccepted(engine: Engine, id: string): Promise<boolean> {
  return (await engine.events(id)).some(({ event }) => event.type === "agent-accepted");
}

if (import.meta.main) await main(askerSettings.parse(JSON.parse(process.argv[2] ?? "{}")));
