import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "../../core/errors.ts";
import type { AskOutcome } from "../../core/events/ask-outcome.ts";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";
import { createArtifactStore } from "../../machine/workspace/artifacts/artifact-store.ts";
import { agentServerForTest } from "../../testing/a2a/agent-server.ts";
import { askerForTest } from "../../testing/a2a/asker.ts";
import { until } from "../../testing/durable/until.ts";
import { askAgent } from "./ask-agent.ts";
import { cancelChildrenRun, engineCancellingChildren } from "./cancel-children.ts";
import { createPeers } from "./peers.ts";

test("an agent that cannot be reached to cancel is retried after growing pauses, until it can", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-recall-"));
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  const tries: number[] = [];
  const away = new AppError("unavailable", "It is away.");
  const peers = createPeers({
    engine,
    artifacts: createArtifactStore(join(home, "artifacts")),
    async connect() {
      tries.push(performance.now());
      // The agent is back and does not know the task.
      throw tries.length < 5 ? away : new AppError("not_found", "There is no such task.");
    },
  });
  const owner = { principal: "alice", contextId: "c1" };
  const agent = { askId: "a/0", agent: "helper", url: "http://127.0.0.1:9/", text: "", parts: [], hops: 1 };
  const { run: asker } = await engine.start({
    kind: "asker",
    input: null,
    ...owner,
    events: [{ type: "agent-asked", ...agent }],
  });
  await engine.cancel(asker.id);
  engine.work([cancelChildrenRun("asker", peers)]);
  const input = { runId: asker.id, why: "canceled" };
  const { run } = await engine.start({ kind: "asker/recall", input, ...owner });
  await until(async () => (await engine.get(run.id))?.status === "completed");
  const pauses = tries.slice(1).map((at, n) => at - (tries[n] ?? 0));
  expect(tries).toHaveLength(5);
  for (const [n, least] of [50, 100, 200, 400].entries()) expect(pauses[n]).toBeGreaterThanOrEqual(least - 5);
  await engine.close();
  await rm(home, { recursive: true });
});

test("a canceled run's asks are canceled even if the process died before the run itself was", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-recall-"));
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  const died = new Error("The process died.");
  const dying = engineCancellingChildren({ ...engine, cancel: () => Promise.reject(died) }, "asker");
  const { run } = await engine.start({ kind: "asker", input: null, principal: "alice", contextId: "c1" });
  expect(await dying.cancel(run.id).catch((error: unknown) => error)).toBe(died);
  const peers = createPeers({ engine, artifacts: createArtifactStore(join(home, "artifacts")) });
  engine.work([cancelChildrenRun("asker", peers)]);
  await until(async () => (await engine.get(run.id))?.status === "canceled");
  await engine.close();
  await rm(home, { recursive: true });
});

test("what a run asked for is canceled when the run fails", async () => {
  await using slow = await agentServerForTest({ script: [{ text: "never ending", stallAfter: 1 }] });
  const ask = { agent: { name: "helper", url: slow.url }, parts: [{ type: "text", text: "Go on." }], hops: 0 } as const;
  await using asker = await askerForTest((run, peers) =>
    run.race<AskOutcome>([
      (own) => askAgent(own, ask, peers),
      async (own) => {
        await own.step("until the other is at work", () =>
          until(() => slow.model.requests.length === 1).then(() => null),
        );
        throw new AppError("stuck", "No way on.");
      },
    ]),
  );
  const { error } = await asker.until(await asker.start(), "failed");
  expect(error?.code).toBe("stuck");
  expect((await slow.tasks()).map(({ status }) => status)).toEqual(["canceled"]);
});
