/**
 * Kills the parts of a cluster for five minutes, one every five seconds, while it works, and exits
 * with 1 if anything came out wrong. It needs PostgreSQL's programs and `restate-server`.
 *
 *     bun test/faults/cluster/run-kills.ts [--seconds 300] [--every 5] [--seed N] [--nodes 3]
 *     [--only agent,hang] [--keep]
 *
 * The replicas are processes of one machine that share a home, and with it the workspaces.
 */
import { parseArgs } from "node:util";
import { noPostgres, postgresPrograms } from "../../../shared/src/testing/durable/postgres-process.ts";
import { noRestate, restateProgram } from "../../../shared/src/testing/durable/restate-node.ts";
import { killCluster } from "./kill-cluster.ts";
import { killings } from "./kills.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "300" },
    every: { type: "string", default: "5" },
    seed: { type: "string", default: String(Date.now() % 100_000) },
    nodes: { type: "string", default: "3" },
    only: { type: "string", default: killings.join() },
    keep: { type: "boolean", default: false },
  },
});
const missing = postgresPrograms === undefined ? noPostgres : restateProgram === undefined ? noRestate : undefined;
if (missing !== undefined) {
  console.error(missing);
  process.exit(1);
}
console.info(`Seed ${values.seed}`);
const { wrong, ...figures } = await killCluster({
  seconds: Number(values.seconds),
  everyMs: Number(values.every) * 1000,
  seed: Number(values.seed),
  restateCount: Number(values.nodes),
  only: killings.filter((one) => values.only.split(",").includes(one)),
  keep: values.keep,
  say: console.info,
});
console.info(JSON.stringify(figures, undefined, 2));
for (const line of wrong) console.error(`WRONG ${line}`);
console.info(wrong.length === 0 ? "All as it has to be." : `${wrong.length} things are wrong.`);
process.exit(wrong.length === 0 ? 0 : 1);
