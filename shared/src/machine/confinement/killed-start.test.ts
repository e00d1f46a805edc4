import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { availableTiers, eventually, openTier } from "../../testing/sandbox/tiers.ts";
import { descendants, readProcessTable, sendSignal } from "../kernel/process-table.ts";
import { runCommand } from "../sandbox/run-command.ts";

const tiers = await availableTiers();
const below = () => descendants(readProcessTable(), process.pid);
const descriptors = () => {
  Bun.gc(true);
  return readdirSync("/proc/self/fd").length;
};

test.if(tiers.includes("bwrap"))(
  "a sandbox that is killed at any moment of its start leaves no descriptor, process or file, and the next one works",
  async () => {
    const { sandbox, workspace, close } = await openTier("bwrap");
    const run = () =>
      runCommand(sandbox, { argv: ["true"], workspace }, { signal: AbortSignal.timeout(60_000) }).then(
        ({ exitCode }) => exitCode,
        () => undefined,
      );
    expect(await run()).toBe(0);
    const staying = new Set(below());
    const fresh = () => below().filter((pid) => !staying.has(pid));
    await eventually("the first one is gone", async () => fresh().length === 0);
    const before = descriptors();
    const outcomes = new Set<number | undefined>();
    for (const milliseconds of [0, 1, 2, 3, 5, 8, 12, 20, 30, 45, 70, 100]) {
      const outcome = run();
      await eventually("it is started", async () => fresh().length > 0);
      await Bun.sleep(milliseconds);
      for (const pid of fresh().slice(0, 1)) sendSignal(pid, "SIGKILL");
      outcomes.add(await outcome);
    }
    expect([...outcomes].some((outcome) => outcome !== 0)).toBe(true);
    await eventually("all of it is gone", async () => fresh().length === 0 && descriptors() <= before);
    expect(await readdir(workspace)).toEqual([]);
    expect(await run()).toBe(0);
    await close();
  },
  120_000,
);
