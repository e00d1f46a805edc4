import { chmodSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../core/errors.ts";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";

const request = { kind: "k", input: null, principal: "p", contextId: "c" };

/**
 * Makes a folder read-only, or writable again: by its mount if this process may do that, otherwise
 * by its mode.
 */
function setWritable(folder: string, writable: boolean): void {
  for (let tries = 0; tries < 100; tries++) {
    const mount = Bun.spawnSync(["mount", "-o", `remount,${writable ? "rw" : "ro"}`, folder]);
    if (mount.exitCode === 0) return;
    // As long as a file that is gone has not been closed everywhere.
    if (!mount.stderr.toString().includes("busy")) break;
    Bun.sleepSync(20);
  }
  chmodSync(join(folder, "runs.db"), writable ? 0o600 : 0o400);
  chmodSync(folder, writable ? 0o700 : 0o500);
}

/**
 * Opens a store that cannot be written, sends it a request, and makes it writable; returns what it
 * observed.
 */
async function observe(folder: string): Promise<{ health: string; refusal: string; status: string }> {
  const path = join(folder, "runs.db");
  const before = createEmbeddedEngine({ path });
  const { run } = await before.start(request);
  await before.close();
  setWritable(folder, false);
  const engine = createEmbeddedEngine({ path, pollMs: 10 });
  engine.work([{ kind: "k", execute: async () => "done" }]);
  const refusal = await engine.start(request).then(
    () => "accepted",
    (error) => (error instanceof AppError ? error.code : String(error)),
  );
  const state = engine.health();
  setWritable(folder, true);
  for await (const _ of engine.follow(run.id, { signal: AbortSignal.timeout(60_000) }));
  const status = (await engine.get(run.id))?.status ?? "gone";
  await engine.close();
  return { health: state.ok ? "ok" : state.reason, refusal, status };
}

if (import.meta.main) process.stdout.write(JSON.stringify(await observe(process.argv[2] ?? "")));
