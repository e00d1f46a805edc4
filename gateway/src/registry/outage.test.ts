import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { askAgent } from "manyhands/internal/a2a/ask/ask-agent";
import { createPeers } from "manyhands/internal/a2a/ask/peers";
import type { Json } from "manyhands/internal/core/json";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { createArtifactStore } from "manyhands/internal/machine/workspace/artifacts/artifact-store";
import { keptFile } from "manyhands/internal/machine/workspace/own-files/kept-file";
import { agentServerForTest } from "manyhands/internal/testing/a2a/agent-server";
import { anyCard } from "manyhands/internal/testing/a2a/card";
import { gateForTest } from "manyhands/internal/testing/a2a/gate";
import { openRegistry } from "./registry.ts";
import { registryFile } from "./registry-file.ts";

const flows = 16;
const outageMs = 3_000;

test("sixteen flows whose agent is unreachable for three seconds wait about that long, not a minute", async () => {
  const home = await mkdtemp(join(tmpdir(), "outage-"));
  await using helper = await agentServerForTest({ script: () => ({ text: "done", delayMs: 1_000 }) });
  await using gate = gateForTest(helper.url);
  const registry = await openRegistry({
    configured: [{ name: "helper", url: gate.url }],
    file: registryFile(keptFile(join(home, "agents.json"))),
    policy: anyCard,
    everyMs: 15_000,
    reserved: [],
    report: () => undefined,
  });
  await registry.refresh();
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  const peers = createPeers({
    engine,
    artifacts: createArtifactStore(join(home, "artifacts")),
    connect: (address, signal) => registry.connect(address, signal ?? AbortSignal.timeout(60_000)),
    retrySignal: (address) => registry.retrySignal(address),
  });
  const agent = { name: "helper", url: gate.url };
  const request = { agent, parts: [{ type: "text", text: "Do it." }], hops: 0 } as const;
  engine.work([{ kind: "flow", execute: async (run) => (await askAgent(run, request, peers)) as unknown as Json }]);
  try {
    const start = () => engine.start({ kind: "flow", input: null, principal: "p", contextId: "c" });
    const early = await Promise.all(Array.from({ length: flows / 2 }, start));
    for (const deadline = Date.now() + 60_000; (await helper.tasks()).length < flows / 2; await Bun.sleep(5))
      if (Date.now() > deadline) throw new Error("The flows did not reach their agent");
    await gate.close();
    const from = performance.now();
    const late = await Promise.all(Array.from({ length: flows / 2 }, start));
    setTimeout(() => gate.open(), outageMs);
    const states = await Promise.all(
      [...early, ...late].map(async ({ run }) => {
        for await (const _ of engine.follow(run.id, { signal: AbortSignal.timeout(100_000) }));
        return (await engine.get(run.id))?.output;
      }),
    );
    const tookMs = performance.now() - from;
    expect(states).toEqual(Array(flows).fill(expect.objectContaining({ state: "completed", answer: "done" })));
    expect(await helper.tasks()).toHaveLength(flows);
    expect(tookMs).toBeLessThan(3 * outageMs + 3_000);
  } finally {
    await registry.close();
    await engine.close({ graceMs: 0 });
    await rm(home, { recursive: true, force: true });
  }
});
