import { afterAll, expect, test } from "bun:test";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunStatus } from "../core/runs/engine.ts";
import type { AgentInput } from "../core/runs/task.ts";
import { askPerson } from "../core/tools/question.ts";
import { createEmbeddedEngine } from "../durable/sqlite/embedded-engine.ts";
import { createArtifactStore } from "../machine/workspace/artifacts/artifact-store.ts";
import { createProjectionCache } from "./projection-cache.ts";
import { createQuotas } from "./quotas.ts";
import type { Runnable } from "./runnable.ts";
import { openRuns } from "./runs.ts";

const home = await mkdtemp(join(tmpdir(), "manyhands-runs-"));
const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
let paused = 0;
engine.work([
  {
    kind: "echo",
    async execute(run, input) {
      const { message } = input as unknown as { message: { parts: readonly { text: string }[] } };
      const [{ text }] = message.parts as [{ text: string }];
      if (text === "fail") throw new Error("on purpose");
      if (text === "work")
        await run.step("work", ({ signal }) => once(signal, "abort").then(() => Promise.reject(signal.reason)));
      if (text === "sleep") await run.sleep(600_000);
      if (text === "ask twice") {
        const asked = [];
        for (const question of ["first?", "second?"])
          asked.push((await askPerson(run, { question, kind: "question" }))?.messageId ?? "");
        return { asked };
      }
      // An event that cannot be stored pauses a run.
      if (text === "pause once" && !paused++)
        await run.step("tell", async (step) => void step.emit({ type: "told", amount: 1n as never }));
      return { answer: "" };
    },
  },
]);
afterAll(async () => {
  await engine.close({ graceMs: 0 });
  await rm(home, { recursive: true });
});

const echo: Runnable = {
  type: "flow",
  name: "echo",
  kind: "echo",
  title: "Echo",
  description: "",
  version: "1.0.0",
  skills: [],
  admit: () => ({}),
};
const quotas = createQuotas({ named: { limited: { runsAtOnce: 1 } } });
const runs = openRuns({
  engine,
  artifacts: createArtifactStore(join(home, "artifacts")),
  projections: createProjectionCache(engine),
  runnables: { all: () => [echo], ofKind: () => ({ ...echo, name: "Echo's name" }) },
  quotas,
  publicUrl: "http://127.0.0.1:1",
});

async function runAt(status: RunStatus, text: string) {
  const message = { messageId: crypto.randomUUID(), parts: [{ type: "text", text }] } as const;
  const { id } = await runs.start(echo, { message }, "ann");
  for (const end = Date.now() + 30_000; Date.now() < end; await Bun.sleep(5))
    if ((await engine.get(id))?.status === status) return id;
  throw new Error(`It did not become ${status}: ${(await engine.get(id))?.status}`);
}

test.each([
  ["waiting", "sleep"],
  ["completed", "done"],
  ["failed", "fail"],
] as const)("a run that is %s is not resumed, and the refusal says how it is", async (status, text) => {
  const id = await runAt(status, text);
  await expect(runs.resume(id, "ann")).rejects.toMatchObject({
    code: "conflict",
    message: `The run ${id} is ${status}, not paused.`,
  });
});

test("an answer's schema that nothing can be checked against is refused, and nothing starts", async () => {
  const start = (outputSchema: NonNullable<AgentInput["outputSchema"]>) =>
    runs.start(echo, { message: { messageId: crypto.randomUUID(), parts: [] }, outputSchema }, "schemas");
  for (const none of [{ type: "no such type" }, { allOf: Array(2_001).fill({}) }])
    await expect(start(none)).rejects.toMatchObject({ code: "invalid_input" });
  expect((await runs.list({ limit: 9 }, "schemas")).total).toBe(0);
  await start({ type: "string" });
  expect((await runs.list({ limit: 9 }, "schemas")).total).toBe(1);
});

test("a paused run is resumed and goes on to its end; its view names what it is a run of", async () => {
  const id = await runAt("paused", "pause once");
  expect((await runs.resume(id, "ann")).status).not.toBe("paused");
  const settled = await runs.settled(await runs.own(id, "ann"), AbortSignal.timeout(30_000));
  expect(settled.status).toBe("completed");
  expect(await runs.view(settled)).toMatchObject({ id, name: "Echo's name", status: "completed" });
});

test("a run that is canceled says so, and only its principal can cancel it", async () => {
  const id = await runAt("waiting", "sleep");
  const signal = AbortSignal.timeout(30_000);
  await expect(runs.cancel(id, "bob", signal)).rejects.toMatchObject({ code: "not_found" });
  expect((await runs.cancel(id, "ann", signal)).status).toBe("canceled");
  // One at work stops first.
  expect((await runs.cancel(await runAt("running", "work"), "ann", signal)).status).toBe("canceled");
});

test("a run is found by the message that started it, of its kind and principal, with what its caller passed on", async () => {
  const message = { messageId: crypto.randomUUID(), parts: [{ type: "text", text: "done" }] } as const;
  const admit = () => ({ options: { rounds: 2 } });
  const { id, input } = await runs.start({ ...echo, admit }, { message, hops: 3, budget: { steps: 4 } }, "eve");
  expect(input).toMatchObject({ hops: 3, budget: { steps: 4 }, flow: { options: { rounds: 2 } } });
  expect((await runs.started("echo", message.messageId, "eve"))?.id).toBe(id);
  for (const [kind, messageId, principal] of [
    ["other", message.messageId, "eve"],
    ["echo", "another", "eve"],
    ["echo", message.messageId, "ann"],
  ] as const)
    expect(await runs.started(kind, messageId, principal)).toBeUndefined();
});

test("starting and answering count as requests of the principal who makes them", async () => {
  const before = await quotas.requests("carl");
  const message = { messageId: crypto.randomUUID(), parts: [{ type: "text", text: "sleep" }] } as const;
  const { id } = await runs.start(echo, { message }, "carl");
  expect(await quotas.requests("carl")).toBe(before + 1);
  const more = { messageId: crypto.randomUUID(), parts: [{ type: "text", text: "sleep" }] } as const;
  await runs.answer(id, more, "carl");
  expect(await quotas.requests("carl")).toBe(before + 2);
  await expect(runs.answer(id, { ...more, messageId: "m" }, "dan")).rejects.toMatchObject({ code: "not_found" });
  expect(await quotas.requests("dan")).toBe(0);
  const [one, other] = [
    { messageId: "q1", parts: more.parts },
    { messageId: "q2", parts: more.parts },
  ];
  await runs.start(echo, { message: one }, "limited");
  const refused = expect.objectContaining({ message: expect.stringContaining("You have reached your limit of") });
  await expect(runs.start(echo, { message: other }, "limited")).rejects.toEqual(refused);
});

test("an answer that names its question answers that one, never the next", async () => {
  const id = await runAt("waiting", "ask twice");
  const answer = (messageId: string, questionEvent?: number) =>
    runs.answer(id, { messageId, parts: [{ type: "text", text: "yes" }] }, "ann", questionEvent);
  const asked = async (question: string) => {
    for (const end = Date.now() + 30_000; Date.now() < end; await Bun.sleep(5)) {
      const view = await runs.view(await runs.own(id, "ann"));
      if (view.question === question) return view.questionEvent ?? 0;
    }
    throw new Error(`It did not ask ${question}`);
  };
  const first = await asked("first?");
  await expect(answer("early", first + 1)).rejects.toMatchObject({ code: "conflict" });
  const outcomes = await Promise.allSettled(["a", "b", "c"].map((messageId) => answer(messageId, first)));
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected", "rejected"]);
  const second = await asked("second?");
  expect(second).toBeGreaterThan(first);
  await expect(answer("late", first)).rejects.toMatchObject({ code: "conflict" });
  await answer("right", second);
  const settled = await runs.settled(await runs.own(id, "ann"), AbortSignal.timeout(30_000));
  const { asked: heard } = settled.output as { asked: readonly string[] };
  expect(["a", "b", "c"]).toContain(heard[0] ?? "");
  expect(heard[1]).toBe("right");
  // A repeated answer is the one that was accepted.
  expect((await answer("right", second)).id).toBe(id);
});
