import { expect, test } from "bun:test";
import { skipped } from "manyhands/internal/testing/durable/skipped";
import { noPostgres, postgresPrograms } from "../../shared/src/testing/durable/postgres-process.ts";
import { noRestate, restateProgram } from "../../shared/src/testing/durable/restate-node.ts";
import { killCluster } from "./cluster/kill-cluster.ts";
import { killings } from "./cluster/kills.ts";

const missing = postgresPrograms === undefined ? noPostgres : restateProgram === undefined ? noRestate : undefined;
if (missing !== undefined) {
  console.warn(`NOT TESTED: a cluster whose parts are killed. ${missing}`);
  skipped(missing);
} else
  test("a cluster whose gateways, agents, database, scheduler and balancer are killed, or hang, ends every task right, once", async () => {
    // Each sort of kill once; what hangs does so for longer than a lease.
    const { wrong, kills, ...figures } = await killCluster({
      ...{ seconds: 16, everyMs: 2_500, seed: 7, restateCount: 3 },
      say: () => undefined,
    });
    console.info(`A cluster under kills: ${JSON.stringify(figures)}`);
    expect(wrong).toEqual([]);
    expect(killings.filter((one) => kills[one] === 0)).toEqual([]);
    expect(figures.tasks).toBeGreaterThanOrEqual(5);
  }, 300_000);
