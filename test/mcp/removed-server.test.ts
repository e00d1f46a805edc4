import { expect, test } from "bun:test";
import { readdir, readFile } from "node:fs/promises";
import { eventually } from "../../shared/src/testing/sandbox/tiers.ts";
import { fixture, hostForTest } from "./host-for-test.ts";

/** Whether a process runs with this argument. */
async function runsWith(argument: string): Promise<boolean> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const commands = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "")));
  return commands.some((command) => command.split("\0").includes(argument));
}

test.if(process.platform === "linux")(
  "the program of a server that leaves mcp.json ends with the next task",
  async () => {
    const mark = crypto.randomUUID();
    await using scene = await hostForTest({ many: fixture("many", "3", mark) });
    expect((await scene.tools()).length).toBeGreaterThan(0);
    expect(await runsWith(mark)).toBe(true);
    await scene.write({});
    expect(await scene.tools()).toEqual([]);
    await eventually("its program is gone", async () => !(await runsWith(mark)));
  },
);
