import { expect, test } from "bun:test";
import { AppError } from "manyhands/internal/core/errors";
import type { KeptText } from "manyhands/internal/core/text/kept-text";
import { startsForTest } from "../../testing/starts.ts";
import type { NewSchedule } from "./schedules.ts";

const daily: NewSchedule = {
  name: "report",
  cron: "0 8 * * *",
  timeZone: "UTC",
  missed: "once",
  overlap: "skip",
  start: "echo",
  task: "Report",
  settings: {},
  notify: [],
};

const noon = { at: "2026-11-02T12:00:00Z" };
const at = (iso: string) => Date.parse(iso);

test("a schedule that is due starts one run, however many gateways look at it and however often", async () => {
  await using one = await startsForTest({}, noon);
  const other = await one.another();
  await one.schedules.add(daily, "local");
  await one.schedules.tick();
  expect(await one.told()).toEqual([]);
  one.clock.now = at("2026-11-03T08:00:01Z");
  await Promise.all([one.schedules.tick(), other.schedules.tick()]);
  expect(await one.schedules.tick()).toBe(at("2026-11-04T08:00:00Z"));
  expect(await one.told()).toEqual(["Report"]);
  const { firings, next } = await other.schedules.get("report", "local");
  expect(firings).toEqual([
    { due: at("2026-11-03T08:00:00Z"), at: one.clock.now, outcome: "started", runId: expect.any(String) },
  ]);
  expect(next).toBe(at("2026-11-04T08:00:00Z"));
});

test("a gateway that dies between the start and its record starts nothing twice", async () => {
  await using one = await startsForTest({}, noon);
  await one.schedules.add(daily, "local");
  one.clock.now = at("2026-11-03T08:00:01Z");
  let text: string | undefined;
  const kept: KeptText = {
    read: async () => text,
    version: async () => "",
    alone: (_, work) => work(),
    async change(next) {
      const made = next(text);
      if (made.includes('"runId"')) throw new AppError("storage_unavailable", "killed");
      text = made;
    },
  };
  const dying = await one.another({ kept });
  await dying.schedules.add(daily, "local");
  one.clock.now = at("2026-11-04T08:00:01Z");
  await dying.schedules.tick();
  expect(await one.told()).toEqual(["Report"]);
  one.clock.now += 5_000;
  await dying.schedules.tick();
  expect(await one.told()).toEqual(["Report"]);
});

test("what an outage made it miss is said, and made up for once or skipped, by the schedule's rule", async () => {
  await using one = await startsForTest({}, noon);
  await one.schedules.add(daily, "local");
  await one.schedules.add({ ...daily, name: "strict", task: "Strict", missed: "skip" }, "local");
  one.clock.now = at("2026-11-05T09:30:00Z");
  const after = await one.another();
  await after.schedules.tick();
  await after.schedules.tick();
  expect(await one.told()).toEqual(["Report"]);
  const due = at("2026-11-05T08:00:00Z");
  expect((await after.schedules.get("report", "local")).firings).toEqual([
    { due, at: one.clock.now, missed: 3, outcome: "made-up", runId: expect.any(String) },
  ]);
  expect((await after.schedules.get("strict", "local")).firings).toEqual([
    { due, at: one.clock.now, missed: 3, outcome: "missed" },
  ]);
  expect(one.warned).toEqual(["Times of a schedule were missed.", "Times of a schedule were missed."]);
  one.clock.now = at("2026-11-06T08:00:05Z");
  await after.schedules.tick();
  expect((await one.told()).toSorted()).toEqual(["Report", "Report", "Strict"]);
});

test("a clock that jumps ahead and is set back neither starts anything twice nor waits for the wrong time to come", async () => {
  await using one = await startsForTest({}, noon);
  await one.schedules.add(daily, "local");
  one.clock.now = at("2036-01-01T08:00:10Z");
  await one.schedules.tick();
  expect(await one.told()).toHaveLength(1);
  one.clock.now = at("2026-11-03T07:59:00Z");
  await one.schedules.tick();
  one.clock.now = at("2026-11-03T08:00:10Z");
  await one.schedules.tick();
  expect(await one.told()).toHaveLength(2);
  one.clock.now = at("2026-11-03T07:00:00Z");
  await one.schedules.tick();
  one.clock.now = at("2026-11-03T08:00:10Z");
  await one.schedules.tick();
  expect(await one.told()).toHaveLength(2);
});

test("while its last run works it is skipped and says so, unless it may overlap", async () => {
  await using one = await startsForTest({}, noon);
  await one.schedules.add({ ...daily, task: "sleep" }, "local");
  await one.schedules.add({ ...daily, name: "busy", task: "sleep twice", overlap: "allow" }, "local");
  for (const day of ["2026-11-03", "2026-11-04"]) {
    one.clock.now = at(`${day}T08:00:01Z`);
    await one.schedules.tick();
  }
  expect((await one.told()).toSorted()).toEqual(["sleep", "sleep twice", "sleep twice"]);
  const [skipped, started] = (await one.schedules.get("report", "local")).firings;
  expect(skipped).toMatchObject({ outcome: "skipped", reason: `its run ${started?.runId} has not ended` });
});

test("a pause covers what it covers: nothing is due in it, and nothing was missed after it", async () => {
  await using one = await startsForTest({}, noon);
  await one.schedules.add(daily, "local");
  expect((await one.schedules.pause("report", "local")).next).toBeUndefined();
  one.clock.now = at("2026-11-05T09:00:00Z");
  await one.schedules.tick();
  await one.schedules.resume("report", "local");
  await one.schedules.tick();
  expect(await one.told()).toEqual([]);
  expect((await one.schedules.get("report", "local")).firings).toEqual([]);
  one.clock.now = at("2026-11-06T08:00:00Z");
  await one.schedules.tick();
  expect(await one.told()).toEqual(["Report"]);
});

test("a quota is the principal's: what it refuses is said, and not tried for ever", async () => {
  await using one = await startsForTest({}, { ...noon, quotas: { named: { alice: { runsAtOnce: 1 } } } });
  await one.schedules.add({ ...daily, task: "sleep" }, "alice");
  await one.schedules.add({ ...daily, name: "second" }, "alice");
  one.clock.now = at("2026-11-03T08:00:01Z");
  await one.schedules.tick();
  await one.schedules.tick();
  expect(await one.told()).toEqual(["sleep"]);
  const { firings } = await one.schedules.get("second", "alice");
  expect(firings).toMatchObject([{ outcome: "refused", reason: expect.stringContaining("your limit of 1 run") }]);
});

test("what is not there yet is waited for, and then given up with the reason", async () => {
  await using one = await startsForTest({}, noon);
  await one.schedules.add({ ...daily, start: "nobody" }, "local");
  one.clock.now = at("2026-11-03T08:00:01Z");
  await one.schedules.tick();
  expect((await one.schedules.get("report", "local")).firings).toEqual([]);
  one.clock.now = at("2026-11-03T08:10:02Z");
  await one.schedules.tick();
  expect((await one.schedules.get("report", "local")).firings).toMatchObject([
    { outcome: "refused", reason: expect.stringContaining('no flow or agent "nobody"') },
  ]);
});

test("a schedule of the settings begins when it is first seen, and can be paused but not removed", async () => {
  const toml = '[schedules.nightly]\ncron = "0 3 * * *"\nstart = "echo"\ntask = "Tidy up"\n';
  await using one = await startsForTest({}, { ...noon, toml });
  await one.schedules.tick();
  expect((await one.schedules.list("local")).map(({ name, isConfigured }) => [name, isConfigured])).toEqual([
    ["nightly", true],
  ]);
  await expect(one.schedules.remove("nightly", "local")).rejects.toMatchObject({ code: "conflict" });
  one.clock.now = at("2026-11-03T03:00:01Z");
  await one.schedules.tick();
  expect(await one.told()).toEqual(["Tidy up"]);
  expect((await one.schedules.pause("nightly", "local")).paused).toBe(true);
});

test("schedules of others are not found, and names are each principal's", async () => {
  await using one = await startsForTest({}, noon);
  await one.schedules.add(daily, "alice");
  await one.schedules.add(daily, "bob");
  await expect(one.schedules.add(daily, "bob")).rejects.toMatchObject({ code: "conflict" });
  const { get, remove, pause, runNow } = one.schedules;
  for (const act of [get, remove, pause])
    await expect(act("report", "carol")).rejects.toMatchObject({ code: "not_found" });
  await expect(runNow("report", "carol", "1")).rejects.toMatchObject({ code: "not_found" });
  await remove("report", "bob");
  expect(await one.schedules.list("alice")).toHaveLength(1);
});

test("a run by hand is one for each key, whether or not the schedule is paused", async () => {
  await using one = await startsForTest({}, noon);
  await one.schedules.add(daily, "local");
  await one.schedules.pause("report", "local");
  const first = await one.schedules.runNow("report", "local", "a");
  expect((await one.schedules.runNow("report", "local", "a")).id).toBe(first.id);
  expect(await one.told()).toEqual(["Report"]);
  expect((await one.schedules.get("report", "local")).firings).toMatchObject([{ outcome: "by-hand", runId: first.id }]);
});

test("settings with times that cannot be read are refused with the name of the table", async () => {
  const toml = '[schedules.nightly]\ncron = "0 99 * * *"\nstart = "echo"\ntask = "Tidy up"\n';
  await expect(startsForTest({}, { ...noon, toml })).rejects.toThrow(/\[schedules.nightly\] cron: "0 99 \* \* \*"/);
});
