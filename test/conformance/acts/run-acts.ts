import { join } from "node:path";
import { parseArgs } from "node:util";
import { grpcClient } from "../../a2a/grpc-client.ts";
import { startReceiver } from "../../a2a/webhook.ts";
import { startKitAgent } from "../a2a-tck/kit-agent.ts";
import { startKitFlow, startKitGateway } from "../a2a-tck/kit-gateway.ts";
import type { KitCapabilities } from "../a2a-tck/kit-server.ts";
import { draftFaults } from "./acts-faults.ts";
import { runTest } from "./acts-run.ts";
import { loadSuite } from "./acts-suite.ts";

/**
 * Runs the tests of ACTS, the draft of A2A's own suite, against our servers and prints a table:
 * `bun test/conformance/acts/run-acts.ts FOLDER`, where FOLDER has its `*.acts.yaml`, that is
 * `tests/acts` of the branch `conformance-spec` of a2aproject/A2A. Exits with 1 if a test that MUST
 * pass fails and is not in `draftFaults`.
 */
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { only: { type: "string" }, binding: { type: "string" } },
});
const [folder] = positionals;
if (folder === undefined) {
  console.error(
    "Usage: bun test/conformance/acts/run-acts.ts FOLDER [--only agent|gateway|flow] [--binding jsonrpc|rest|grpc]",
  );
  process.exit(2);
}
const tests = await loadSuite(join(folder, "suite.acts.yaml"));
await using hook = startReceiver();
const variables = { webhookUrl: hook.url };
const on = {
  extendedCard: false,
  requiredExtensions: [],
  cardStyle: "strict",
  otherwise: "tck-complete-task",
} as const;
const subjects = { agent: undefined, gateway: startKitGateway, flow: startKitFlow };
const unexpected: string[] = [];

console.log("| server | binding | optional capabilities | must | should | may | failed by the draft's faults |");
console.log("| --- | --- | --- | --- | --- | --- | --- |");
for (const [name, start] of Object.entries(subjects)) {
  if (values.only !== undefined && values.only !== name) continue;
  for (const offered of [true, false]) {
    const capabilities: KitCapabilities = { ...on, streaming: offered, push: offered };
    await using agent = await startKitAgent({ ...capabilities, streaming: offered || start !== undefined });
    await using before = await start?.(capabilities, agent);
    const { url, grpc: address } = before ?? agent;
    using grpc = grpcClient(address);
    for (const binding of ["jsonrpc", "rest", "grpc"] as const) {
      if (values.binding !== undefined && values.binding !== binding) continue;
      const has = { streaming: offered, pushNotifications: offered };
      const counts = { must: [0, 0], should: [0, 0], may: [0, 0] };
      let faults = 0;
      for (const test of tests) {
        const outcome = await runTest(test, { url, grpc, binding, capabilities: has, variables });
        if (outcome.result === "skipped") continue;
        const count = counts[test.level];
        count[1] = (count[1] ?? 0) + 1;
        if (outcome.result === "passed") count[0] = (count[0] ?? 0) + 1;
        else if (draftFaults[test.id] !== undefined) faults++;
        else
          unexpected.push(
            `${name}, ${binding}, ${offered ? "on" : "off"}: ${test.level} ${test.id}: ${outcome.faults.join("; ")}`,
          );
      }
      const cells = Object.values(counts).map(([passed, all]) => `${passed} of ${all}`);
      console.log(`| ${name} | ${binding} | ${offered ? "on" : "off"} | ${cells.join(" | ")} | ${faults} |`);
    }
  }
}
for (const line of unexpected) console.log(line);
process.exit(unexpected.some((line) => line.includes(": must ")) ? 1 : 0);
