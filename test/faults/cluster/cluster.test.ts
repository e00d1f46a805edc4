import { expect, test } from "bun:test";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { skipped } from "manyhands/internal/testing/durable/skipped";
import { noPostgres, postgresPrograms } from "../../../shared/src/testing/durable/postgres-process.ts";
import { noRestate, restateProgram } from "../../../shared/src/testing/durable/restate-node.ts";
import { startCluster } from "./cluster.ts";

const missing = postgresPrograms === undefined ? noPostgres : restateProgram === undefined ? noRestate : undefined;
if (missing !== undefined) {
  console.warn(`NOT TESTED: a cluster of which a part cannot start. ${missing}`);
  skipped(missing);
} else
  test("a cluster of which a part cannot start leaves none running", async () => {
    const folder = await mkdtemp(join(tmpdir(), "manyhands-cluster-"));
    const before = await children();
    const modelUrl = () => {
      throw new Error("there is no model");
    };
    await expect(startCluster(folder, { restateCount: 1, modelUrl })).rejects.toThrow("there is no model");
    expect((await children()).difference(before)).toEqual(new Set());
    await rm(folder, { recursive: true });
  }, 120_000);

/** The processes that this one has started and that are there. */
async function children(): Promise<Set<string>> {
  const tasks = await readdir("/proc/self/task");
  const lists = tasks.map((task) => readFile(`/proc/self/task/${task}/children`, "utf8").catch(() => ""));
  return new Set((await Promise.all(lists)).flatMap((list) => list.split(" ").filter((id) => id !== "")));
}
