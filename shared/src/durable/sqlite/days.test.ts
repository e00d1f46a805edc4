import { expect, test } from "bun:test";
import type { Engine } from "../../core/runs/engine.ts";
import { until } from "../../testing/durable/until.ts";
import { createEmbeddedEngine } from "./embedded-engine.ts";

const day = 86_400_000;
const usage = { inputTokens: 7, cachedInputTokens: 0, outputTokens: 3, costUsd: 0, source: "provider" } as const;
const replied = { type: "model-replied", text: "", toolCalls: [], usage, model: "m", milliseconds: 1 } as const;
const request = { kind: "k", input: null, principal: "p", contextId: "c" };

/** An engine on a machine whose clocks stand where the test puts them. */
function open() {
  const at = { wall: Date.parse("2026-03-01T12:00:00Z"), uptime: 0 };
  const clock = { boot: "b", wall: () => at.wall, uptime: () => at.uptime };
  return { at, engine: createEmbeddedEngine({ path: ":memory:", clock }) };
}

const refusal = (engine: Engine, quota: { tokensPerDay: number }) =>
  engine.start({ ...request, quota }).then(
    () => undefined,
    ({ retryAfter }) => retryAfter,
  );

test("what is used counts on the day that the wall clock shows, in runs and beside them, and so do the limits", async () => {
  const { at, engine } = open();
  await engine.start({ ...request, events: [replied] });
  await engine.spend("p", { tokens: 5, usd: 0 });
  expect(await engine.usage("p")).toMatchObject({ day: "2026-03-01", tokens: 15 });
  // Set, while no time passes.
  at.wall += 2 * day;
  expect(await engine.usage("p")).toMatchObject({ day: "2026-03-03", tokens: 0 });
  await engine.spend("p", { tokens: 1, usd: 0 });
  const { run } = await engine.start({ ...request, events: [replied] });
  expect([run.createdAt, (await engine.events(run.id))[0]?.at]).toEqual([at.wall, at.wall]);
  expect(await engine.usage("p")).toMatchObject({ day: "2026-03-03", tokens: 11 });
  expect(await refusal(engine, { tokensPerDay: 11 })).toBe(43_200);
  expect(await refusal(engine, { tokensPerDay: 12 })).toBeUndefined();
  const admitted = engine.admit({ ...request, quota: { tokensPerDay: 11 }, starts: false });
  expect(await admitted.catch(({ retryAfter }) => retryAfter)).toBe(43_200);
  await engine.close();
});

test("a key finds its run for exactly its window of time that really passed, and no longer", async () => {
  const { at, engine } = open();
  at.wall += 9 * day;
  const again = { ...request, dedupe: { key: "m", withinMs: day } };
  const { run } = await engine.start(again);
  at.wall += 9 * day;
  at.uptime += day - 1;
  const limited = { ...again, quota: { tokensPerDay: 0 }, starts: true };
  await engine.admit(limited);
  expect(await engine.start(again)).toMatchObject({ created: false, run: { id: run.id } });
  at.uptime += 1;
  expect(await engine.admit(limited).catch(({ code }) => code)).toBe("quota_exceeded");
  const { run: next, created } = await engine.start(again);
  expect([created, next.id === run.id]).toEqual([true, false]);
  expect((await engine.byKey("p", "m"))?.id).toBe(next.id);
  await engine.close();
});

test("a run that sleeps wakes at its time by the uptime, where nothing else happens", async () => {
  const { at, engine } = open();
  const is = (id: string, status: string) => until(async () => (await engine.get(id))?.status === status, 10_000);
  engine.work([
    {
      kind: "k",
      async execute(run, input) {
        if (input === "sleeps") await run.sleep(day);
        return null;
      },
    },
  ]);
  // By then its worker knows that nothing is left to claim.
  for (let n = 0; n < 2; n++) await is((await engine.start(request)).run.id, "completed");
  const { run } = await engine.start({ ...request, input: "sleeps" });
  await is(run.id, "waiting");
  at.wall += 9 * day;
  await Bun.sleep(120);
  expect((await engine.get(run.id))?.status).toBe("waiting");
  at.uptime += day;
  await is(run.id, "completed");
  await engine.close();
});
