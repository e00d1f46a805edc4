import type * as z from "zod";
import type { workerSettings } from "./worker-process.ts";

/** A process that executes errands. */
export type WorkerProcess = Bun.Subprocess<"ignore", "pipe", "pipe">;

/** Starts a process that executes errands; `prefix` is a command to start it through. */
export function spawnWorker(settings: z.input<typeof workerSettings>, prefix: readonly string[] = []): WorkerProcess {
  const program = new URL("./worker-process.ts", import.meta.url).pathname;
  return Bun.spawn([...prefix, process.execPath, program, JSON.stringify(settings)], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
}

/** Resolves once the process executes errands. */
export async function working(worker: WorkerProcess): Promise<void> {
  const reader = worker.stdout.getReader();
  const { done } = await reader.read();
  reader.releaseLock();
  if (done) throw new Error(`A worker ended at once: ${await new Response(worker.stderr).text()}`);
}
