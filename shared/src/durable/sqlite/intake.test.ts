import { expect, test } from "bun:test";
import { until } from "../../testing/durable/until.ts";
import { createEmbeddedEngine } from "./embedded-engine.ts";

const request = { kind: "k", input: null, principal: "p", contextId: "c" };

test("a run that is accepted while its worker looks for others begins by itself", async () => {
  const engine = createEmbeddedEngine({ path: ":memory:" });
  const work = (kind: string) => engine.work([{ kind, execute: async () => "done" }]);
  work("k");
  const status = async (id: string) => (await engine.get(id))?.status;
  const first = await engine.start(request);
  await until(async () => (await status(first.run.id)) === "completed");
  work("other");
  const { run } = await engine.start(request);
  await until(async () => (await status(run.id)) === "completed", 5_000);
  await engine.close();
});

test("a run counts among those its principal has at once though no limit held when it began, but not one that is part of another", async () => {
  const engine = createEmbeddedEngine({ path: ":memory:" });
  for (const quota of [{}, { requestsPerMinute: 9 }, undefined]) await engine.start({ ...request, quota });
  expect((await engine.usage("p")).runs).toBe(2);
  const refused = await engine.start({ ...request, quota: { runsAtOnce: 2 } }).catch(({ code }) => code);
  expect(refused).toBe("quota_exceeded");
  await engine.close();
});

test("a key is the same request's where one of the two says nothing of what it asked for", async () => {
  const engine = createEmbeddedEngine({ path: ":memory:" });
  const [said, unsaid] = [{ key: "k1", hash: "h" }, { key: "k1" }];
  for (const [principal, before, after] of [
    ["ann", said, unsaid],
    ["bob", unsaid, said],
  ] as const) {
    const { run } = await engine.start({ ...request, principal, dedupe: before });
    const again = await engine.start({ ...request, principal, dedupe: after });
    expect([again.created, again.run.id]).toEqual([false, run.id]);
  }
  await engine.close();
});
