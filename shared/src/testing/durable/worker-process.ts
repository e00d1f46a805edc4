import * as z from "zod";
import { crashPointText } from "../../durable/sqlite/disk/crash-point.ts";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";
import { errand } from "./errand.ts";
import { programDefinition } from "./program.ts";

/** The settings that `spawnWorker` passes to a worker process. */
export const workerSettings = z.strictObject({
  path: z.string(),
  effects: z.string(),
  stepMs: z.number(),
  leaseMs: z.number(),
  /** The worker exits once this run has ended. */
  until: z.string().optional(),
  crashAt: crashPointText.optional(),
});

/** The program of a worker process: executes errands until its run ends or, on SIGTERM, drains. */
async function main(settings: z.output<typeof workerSettings>): Promise<void> {
  const { path, leaseMs, crashAt } = settings;
  const log = { warn: tell, error: tell };
  const engine = createEmbeddedEngine({
    path,
    leaseMs,
    pollMs: 10,
    log,
    ...(crashAt === undefined ? {} : { crashAt }),
  });
  const leave = new AbortController();
  process.once("SIGTERM", () => leave.abort());
  engine.work([
    errand(settings.effects, settings.stepMs),
    programDefinition("program", async (_, value) => {
      await Bun.sleep(settings.stepMs);
      return value;
    }),
  ]);
  process.stdout.write("working\n");
  if (settings.until === undefined) await new Promise((resolve) => leave.signal.addEventListener("abort", resolve));
  else for await (const _ of engine.follow(settings.until, { signal: leave.signal }));
  await engine.close({ graceMs: 2000 });
}

function tell(fields: object, message: string): void {
  process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
}

if (import.meta.main) await main(workerSettings.parse(JSON.parse(process.argv[2] ?? "{}")));
