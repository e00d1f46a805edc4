import { expect, test } from "bun:test";
import { dirname, join } from "node:path";
import { askPerson } from "../../core/tools/question.ts";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";
import { openWorkspace } from "../../machine/workspace/open-workspace.ts";
import { scratch } from "../../testing/durable/scratch.ts";
import { until } from "../../testing/durable/until.ts";
import { isAtWork } from "./at-work.ts";

test("a conversation is at work while a task of its agent waits for a person, and no other conversation is", async () => {
  using store = scratch();
  const engine = createEmbeddedEngine({ path: store.path });
  engine.work([
    {
      kind: "tester",
      execute: async (run) => ((await askPerson(run, { question: "Which?", kind: "question" })) ? "yes" : "no"),
    },
  ]);
  const open = (agent: string, contextId: string) =>
    openWorkspace({ home: join(dirname(store.path), "home"), agent, principal: "ann", contextId });
  const [one, other, elsewhere] = await Promise.all([open("tester", "c"), open("tester", "d"), open("browser", "c")]);
  const now = () => Promise.all([one, other, elsewhere].map((workspace) => isAtWork("tester", workspace, engine)));
  const { run } = await engine.start({ kind: "tester", input: null, principal: "ann", contextId: "c" });
  await until(async () => (await engine.get(run.id))?.status === "waiting");
  expect(await now()).toEqual([true, false, false]);
  await engine.cancel(run.id);
  await until(async () => (await engine.get(run.id))?.status === "canceled");
  expect(await now()).toEqual([false, false, false]);
  await engine.close({ graceMs: 0 });
});
