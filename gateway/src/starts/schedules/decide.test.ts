import { expect, test } from "bun:test";
import { AppError } from "manyhands/internal/core/errors";
import { startsForTest } from "../../testing/starts.ts";
import type { NewSchedule } from "./schedules.ts";

const daily: NewSchedule = {
  ...{ name: "report", cron: "0 8 * * *", timeZone: "UTC", missed: "skip", overlap: "allow" },
  ...{ start: "echo", task: "Report", settings: {}, notify: [] },
};
const noon = { at: "2026-11-02T12:00:00Z" };
const eighth = Date.parse("2026-11-03T08:00:00Z");
const dayMs = 86_400_000;

test("what starts in time after others were missed says how many, and is started whatever the rule", async () => {
  await using one = await startsForTest({}, noon);
  await one.schedules.add(daily, "local");
  one.clock.now = eighth + 2 * dayMs + 30_000;
  await one.schedules.tick();
  expect((await one.schedules.get("report", "local")).firings).toMatchObject([
    { due: eighth + 2 * dayMs, outcome: "started", missed: 2 },
  ]);
  expect(one.warned).toEqual(["Times of a schedule were missed."]);
});

test("a start that fails is given up when the clock, set back, says that it was first tried long ago or ahead", async () => {
  await using one = await startsForTest({}, noon);
  await one.schedules.add({ ...daily, missed: "once" }, "local");
  const start = () => Promise.reject(new AppError("unavailable", "Not now."));
  const { schedules } = await one.another({ runs: { ...one.runs, start } });
  const outcomeAt = async (at: number) => {
    one.clock.now = at;
    await schedules.tick();
    return (await schedules.get("report", "local")).firings[0]?.outcome;
  };
  expect(await outcomeAt(eighth + 3_600_000)).toBeUndefined();
  expect(await outcomeAt(eighth + 1_000)).toBe("refused");
  // Each time is tried anew.
  expect(await outcomeAt(eighth + dayMs)).toBe("refused");
  expect((await schedules.get("report", "local")).firings).toHaveLength(1);
  expect(await outcomeAt(eighth + dayMs + 600_000)).toBe("refused");
  expect((await schedules.get("report", "local")).firings).toHaveLength(2);
});

test("it is the newest of its runs, whoever started it, that a schedule waits for", async () => {
  await using one = await startsForTest({}, noon);
  await one.schedules.add({ ...daily, overlap: "skip", task: "sleep" }, "local");
  const outcomes = async () => {
    const { firings } = await one.schedules.get("report", "local");
    return firings.map(({ outcome }) => outcome);
  };
  const end = async (id = "") => {
    await one.engine.cancel(id);
    while ((await one.engine.get(id))?.status !== "canceled") await Bun.sleep(2);
  };
  for (let day = 0; day < 3; day++) {
    one.clock.now = eighth + day * dayMs;
    await one.schedules.tick();
    if (day === 0) await end((await one.schedules.get("report", "local")).firings[0]?.runId);
  }
  expect(await outcomes()).toEqual(["skipped", "started", "started"]);
  const [, working] = (await one.schedules.get("report", "local")).firings;
  await end(working?.runId);
  one.clock.now += 1_000;
  const { id } = await one.schedules.runNow("report", "local", "a");
  one.clock.now = eighth + 3 * dayMs;
  await one.schedules.tick();
  const [skipped] = (await one.schedules.get("report", "local")).firings;
  expect(skipped).toMatchObject({ outcome: "skipped", reason: `its run ${id} has not ended` });
});

test("a start that is tried again is not skipped for what was started by hand meanwhile", async () => {
  await using one = await startsForTest({}, noon);
  await one.schedules.add({ ...daily, missed: "once", overlap: "skip", task: "sleep" }, "local");
  let isAway = true;
  const start = (...request: Parameters<typeof one.runs.start>) =>
    isAway ? Promise.reject(new AppError("unavailable", "Not now.")) : one.runs.start(...request);
  const { schedules } = await one.another({ runs: { ...one.runs, start } });
  one.clock.now = eighth;
  await schedules.tick();
  isAway = false;
  await schedules.runNow("report", "local", "a");
  one.clock.now = eighth + 1_000;
  await schedules.tick();
  const { firings } = await schedules.get("report", "local");
  expect(firings.map(({ outcome }) => outcome)).toEqual(["started", "by-hand"]);
});

test.each([
  ["once", eighth + 3_600_000, "made-up"],
  ["skip", eighth + 1_000, "started"],
] as const)(
  "the run of a gateway that died is its principal's, and counts where times are made up for %s",
  async (missed, at, outcome) => {
    await using one = await startsForTest({}, noon);
    await one.schedules.add({ ...daily, missed }, "alice");
    one.clock.now = at;
    const start = async (...request: Parameters<typeof one.runs.start>) => {
      await one.runs.start(...request);
      throw new Error("killed");
    };
    await (await one.another({ runs: { ...one.runs, start } })).schedules.tick();
    one.clock.now = eighth + 7_200_000;
    await one.schedules.tick();
    expect((await one.schedules.get("report", "alice")).firings).toMatchObject([{ due: eighth, at, outcome }]);
    expect(await one.told()).toEqual(["Report"]);
  },
);

test("a run whose targets may not be named any more has started all the same, and that nobody is told is said", async () => {
  await using one = await startsForTest({}, noon);
  await one.schedules.add({ ...daily, notify: ["gone"] }, "local");
  one.clock.now = eighth + 1_000;
  for (const _ of [1, 2]) await one.schedules.tick();
  expect((await one.schedules.get("report", "local")).firings).toMatchObject([{ due: eighth, outcome: "started" }]);
  expect([await one.told(), one.warned]).toEqual([["Report"], ["Nobody is told of a schedule's run."]]);
});

test("what the settings say of a schedule stands in place of one that was added under its name", async () => {
  await using one = await startsForTest({}, noon);
  await one.schedules.add({ ...daily, name: "nightly" }, "local");
  const toml = '[schedules.nightly]\ncron = "0 3 * * *"\nstart = "echo"\ntask = "Tidy up"\n';
  await using other = await startsForTest({}, { ...noon, toml, over: { engine: one.engine, kept: one.kept } });
  expect((await other.schedules.list("local")).map(({ task, isConfigured }) => [task, isConfigured])).toEqual([
    ["Tidy up", true],
  ]);
  other.clock.now = eighth + 3_600_000;
  await other.schedules.tick();
  expect(await other.told()).toEqual(["Tidy up"]);
});

test("a book that cannot be read is an error, and what is in it is not replaced", async () => {
  await using one = await startsForTest({}, noon);
  await one.kept.change(() => '{"schedules":[');
  for (const use of [() => one.schedules.list("local"), () => one.schedules.add(daily, "local"), one.schedules.tick])
    await expect(use()).rejects.toMatchObject({
      code: "internal",
      message: expect.stringMatching(
        /^schedules\.json .* is damaged\. Put the one of a backup in its place, or remove it: /,
      ),
    });
  expect(await one.kept.read()).toBe('{"schedules":[');
});

test("a schedule is kept only with times that can be read, in its own time zone", async () => {
  await using one = await startsForTest({}, noon);
  const add = (more: Partial<NewSchedule>) => one.schedules.add({ ...daily, ...more }, "local");
  await expect(add({ cron: "every day" })).rejects.toMatchObject({ code: "invalid_input" });
  await expect(add({ timeZone: "Europe/Atlantis" })).rejects.toMatchObject({ code: "invalid_input" });
  expect(await one.schedules.list("local")).toEqual([]);
  expect((await add({ timeZone: "Asia/Tokyo" })).next).toBe(Date.parse("2026-11-02T23:00:00Z"));
  // Nobody else's.
  expect([await one.schedules.list("alice"), (await one.schedules.list("local")).length]).toEqual([[], 1]);
  for (const act of [one.schedules.get, one.schedules.pause, one.schedules.resume, one.schedules.remove])
    await expect(act("report", "alice")).rejects.toMatchObject({ code: "not_found" });
  expect((await add({ name: "here" })).next).toBe(eighth);
});

test("a token that may do more than start runs counts, and so does any where everybody is answered", async () => {
  for (const tokens of [
    [{ name: "t", principal: "alice", scopes: ["admin"] as const, createdAt: 0 }],
    [{ name: "t", principal: "alice", scopes: ["read", "run"] as const, createdAt: 0 }],
    undefined,
  ]) {
    await using one = await startsForTest({}, { ...noon, ...(tokens && { tokens: { list: async () => tokens } }) });
    await one.schedules.add({ ...daily, byToken: true }, "alice");
    one.clock.now = eighth + 1_000;
    await one.schedules.tick();
    expect(await one.told()).toEqual(["Report"]);
  }
});
