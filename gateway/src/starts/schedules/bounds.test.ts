import { expect, test } from "bun:test";
import { AppError } from "manyhands/internal/core/errors";
import type { AgentInput } from "manyhands/internal/core/runs/task";
import { startsForTest } from "../../testing/starts.ts";
import type { NewSchedule } from "./schedules.ts";

const daily: NewSchedule = {
  ...{ name: "report", cron: "0 8 * * *", timeZone: "UTC", missed: "skip", overlap: "allow" },
  ...{ start: "echo", task: "Report", settings: {}, notify: [] },
};
const noon = { at: "2026-11-02T12:00:00Z" };
const eighth = Date.parse("2026-11-03T08:00:00Z");

test("what starts up to ninety seconds after its time is on time", async () => {
  await using one = await startsForTest({}, noon);
  for (const missed of ["skip", "once"] as const) await one.schedules.add({ ...daily, name: missed, missed }, "local");
  for (const lateMs of [90_000, 86_400_000 + 90_001]) {
    one.clock.now = eighth + lateMs;
    await one.schedules.tick();
  }
  const outcomes = async (name: string) =>
    (await one.schedules.get(name, "local")).firings.map(({ outcome }) => outcome);
  expect(await outcomes("skip")).toEqual(["missed", "started"]);
  expect(await outcomes("once")).toEqual(["made-up", "started"]);
});

test("what may pass is tried again for ten minutes, anything else is refused at once", async () => {
  await using one = await startsForTest({}, noon);
  const codes = ["unavailable", "not_found", "timeout", "storage_unavailable", "invalid_input"] as const;
  // It is not skipped for a run that it could not start.
  for (const [at, code] of codes.entries())
    await one.schedules.add({ ...daily, name: `n${at}`, task: code, missed: "once", overlap: "skip" }, "local");
  const tried: string[] = [];
  const start = (...[, { message }]: Parameters<typeof one.runs.start>) => {
    const code = codes.find((code) => JSON.stringify(message).includes(`"${code}"`)) ?? "internal";
    tried.push(code);
    return Promise.reject(new AppError(code, "Not now."));
  };
  const { schedules } = await one.another({ runs: { ...one.runs, start } });
  const refused = async () => {
    const all = await schedules.list("local");
    return all.filter(({ firings }) => firings[0]?.outcome === "refused").map(({ task }) => task);
  };
  for (const [laterMs, found] of [
    [0, ["invalid_input"]],
    [599_999, ["invalid_input"]],
    [600_000, codes],
  ] as const) {
    one.clock.now = eighth + laterMs;
    await schedules.tick();
    expect(await refused()).toEqual([...found]);
  }
  for (const code of codes) expect(tried.filter((one) => one === code)).toHaveLength(code === "invalid_input" ? 1 : 3);
});

test("a principal adds a hundred schedules, of which the newest twenty firings are kept, the newest first", async () => {
  await using one = await startsForTest({}, noon);
  for (let count = 1; count < 100; count++)
    await one.schedules.add({ ...daily, name: `n${count}`, cron: "0 0 1 1 *" }, "local");
  await one.schedules.add({ ...daily, cron: "* * * * *" }, "local");
  await expect(one.schedules.add({ ...daily, name: "more" }, "local")).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringContaining("You have 100 schedules"),
  });
  await one.schedules.add(daily, "alice");
  for (let minute = 1; minute <= 21; minute++) {
    one.clock.now = Date.parse(noon.at) + minute * 60_000;
    await one.schedules.tick();
  }
  const { firings } = await one.schedules.get("report", "local");
  expect(firings).toHaveLength(20);
  expect(firings[0]?.due).toBe(one.clock.now);
  expect(firings.at(-1)?.due).toBe(Date.parse(noon.at) + 2 * 60_000);
});

test("a schedule that is added again begins anew: its runs are others, and what became of the former is gone", async () => {
  await using one = await startsForTest({}, noon);
  await one.schedules.add(daily, "local");
  const first = await one.schedules.runNow("report", "local", "a");
  await one.schedules.remove("report", "local");
  one.clock.now += 1_000;
  await one.schedules.add(daily, "local");
  expect((await one.schedules.get("report", "local")).firings).toEqual([]);
  expect((await one.schedules.runNow("report", "local", "a")).id).not.toBe(first.id);
});

test("a run has the budget, the agents and the options of its schedule", async () => {
  await using one = await startsForTest({}, noon);
  const settings = { agents: ["manus"], options: { rounds: 2 } };
  await one.schedules.add({ ...daily, settings, budget: { usd: 0.5, steps: 3 } }, "local");
  const { input, principal } = await one.schedules.runNow("report", "local", "a");
  const { budget, message } = input as AgentInput;
  expect([principal, budget]).toEqual(["local", { usd: 0.5, steps: 3 }]);
  expect(JSON.stringify(message.metadata)).toContain('["manus"]');
  expect(JSON.stringify(message.metadata)).toContain('{"rounds":2}');
});

test("the next look is at the earliest of all times, and a schedule that fails holds up no other", async () => {
  await using one = await startsForTest({}, noon);
  expect(await one.schedules.tick()).toBeUndefined();
  await one.schedules.add({ ...daily, name: "broken", task: "sleep" }, "local");
  await one.schedules.add({ ...daily, name: "hourly", cron: "0 * * * *" }, "local");
  expect(await one.schedules.tick()).toBe(Date.parse("2026-11-02T13:00:00Z"));
  await one.schedules.pause("hourly", "local");
  expect(await one.schedules.tick()).toBe(eighth);
  await one.schedules.resume("hourly", "local");
  one.clock.now = eighth;
  const start = (...request: Parameters<typeof one.runs.start>) =>
    JSON.stringify(request).includes('"sleep"') ? Promise.reject(new Error("a slip")) : one.runs.start(...request);
  const { schedules } = await one.another({ runs: { ...one.runs, start } });
  expect(await schedules.tick()).toBe(Date.parse("2026-11-03T09:00:00Z"));
  expect(await one.told()).toEqual(["Report"]);
});
