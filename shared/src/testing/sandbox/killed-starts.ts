import { readdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { descendants, readProcessTable, sendSignal } from "../../machine/kernel/process-table.ts";
import { runCommand } from "../../machine/sandbox/run-command.ts";
import { eventually, openTier } from "./tiers.ts";

/**
 * Starts sandboxes and kills each at another moment of its start, in a process of its own, so that
 * all its children and descriptors belong to them. Prints what is left as JSON.
 */
async function main(): Promise<void> {
  const below = () => descendants(readProcessTable(), process.pid);
  const descriptors = () => {
    Bun.gc(true);
    return readdirSync("/proc/self/fd").length;
  };
  const { sandbox, workspace, close } = await openTier("bwrap");
  const run = (argv = ["true"]) =>
    runCommand(sandbox, { argv, workspace }, { signal: AbortSignal.timeout(60_000) }).then(
      ({ exitCode }) => exitCode,
      () => undefined,
    );
  const first = await run();
  const staying = new Set(below());
  const fresh = () => below().filter((pid) => !staying.has(pid));
  await eventually("the first one is gone", async () => fresh().length === 0);
  const before = descriptors();
  const outcomes: (number | undefined)[] = [];
  for (const milliseconds of [0, 1, 2, 3, 5, 8, 12, 20, 30, 45, 70, 100]) {
    // Lasts long enough to be seen before it ends by itself.
    const outcome = run(["sleep", "3"]);
    await eventually("it is started", async () => fresh().length > 0);
    await Bun.sleep(milliseconds);
    for (const pid of fresh().slice(0, 1)) sendSignal(pid, "SIGKILL");
    outcomes.push(await outcome);
  }
  await eventually("all of it is gone", async () => fresh().length === 0 && descriptors() <= before);
  const files = await readdir(workspace);
  const last = await run();
  await close();
  const killed = outcomes.filter((outcome) => outcome !== 0).length;
  process.stdout.write(JSON.stringify({ first, killed, files, last }));
}

if (import.meta.main) await main();
