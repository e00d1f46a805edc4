import { expect, test } from "bun:test";
import type { AgentInput } from "manyhands/internal/core/runs/task";
import { startsForTest } from "../testing/starts.ts";
import type { NewSchedule } from "./schedules/schedules.ts";

const at = "2026-11-02T12:00:00Z";
const daily: NewSchedule = {
  ...{ name: "report", start: "echo", task: "Report", cron: "0 8 * * *", timeZone: "UTC", notify: [], settings: {} },
  missed: "once",
  overlap: "skip",
};
const due = Date.parse("2026-11-03T08:00:01Z");

test("hosts that the settings name to be told are reached at the port of their address", async () => {
  const targets = [
    'a]\ntype = "webhook"\nurl = "https://secure.example/x"\nsecret = "whsec_MDEyMzQ1Njc4OWFiY2RlZg=="',
    'b]\ntype = "webhook"\nurl = "http://plain.example/x"\nsecret = "whsec_MDEyMzQ1Njc4OWFiY2RlZg=="',
    'c]\ntype = "slack"\nurl = "https://other.example:8443/x"',
  ];
  const toml = targets.map((target) => `[notify.${target}\n`).join("");
  await using one = await startsForTest({}, { at, toml });
  const asked: (readonly string[])[] = [];
  const webhooks = (hosts: readonly string[]) => {
    asked.push(hosts);
    return { post: async () => undefined };
  };
  await one.another({ webhooks });
  expect(asked).toEqual([["secure.example:443", "plain.example:80", "other.example:8443"]]);
});

test("what starts by itself has the budget that it was given", async () => {
  const toml = `[schedules.report]\nstart = "echo"\ntask = "Report"\ncron = "0 8 * * *"\nbudget = { steps = 3, usd = 0.5 }\n`;
  await using one = await startsForTest({}, { at, toml });
  await one.schedules.tick();
  one.clock.now = due;
  await one.schedules.tick();
  const { runs } = await one.engine.list({ kind: "echo", limit: 10 });
  expect(runs.map(({ input }) => (input as AgentInput).budget)).toEqual([{ steps: 3, usd: 0.5 }]);
});

test("a schedule of the settings takes the place of one of its name that was added", async () => {
  await using added = await startsForTest({}, { at });
  await added.schedules.add(daily, "local");
  const toml = `[schedules.report]\nstart = "echo"\ntask = "Of the settings"\ncron = "0 9 * * *"\n`;
  await using one = await startsForTest({}, { at, toml, over: added });
  expect((await one.schedules.list("local")).map(({ task, isConfigured }) => [task, isConfigured])).toEqual([
    ["Of the settings", true],
  ]);
});

test("the same hour of two time zones is two times", async () => {
  await using one = await startsForTest({}, { at });
  for (const timeZone of ["UTC", "Asia/Tokyo"])
    await one.schedules.add({ ...daily, name: timeZone, timeZone }, "local");
  const next = (await one.schedules.list("local")).map((schedule) => new Date(schedule.next ?? 0).toISOString());
  expect(next.toSorted()).toEqual(["2026-11-02T23:00:00.000Z", "2026-11-03T08:00:00.000Z"]);
});

test("where everybody is answered a schedule that was added with a token starts too", async () => {
  await using one = await startsForTest({}, { at });
  await one.schedules.add({ ...daily, byToken: true }, "alice");
  one.clock.now = due;
  await one.schedules.tick();
  expect((await one.schedules.get("report", "alice")).firings).toMatchObject([{ outcome: "started" }]);
});

test("of schedules and triggers that start what there is not, it is said at once, with what there is", async () => {
  const schedule = (name: string, start: string) =>
    `[schedules.${name}]\nstart = "${start}"\ntask = "Report"\ncron = "0 8 * * *"\n`;
  const trigger = '[triggers.issue]\nstart = "nobody"\ntask = "See"\ntype = "github"\nsecret = "a secret of it"\n';
  await using one = await startsForTest(
    {},
    { at, toml: `${schedule("good", "echo")}${schedule("bad", "ecko")}${trigger}` },
  );
  expect(one.warned).toEqual([
    '[schedules.bad] starts "ecko", but there is no flow or agent of this name now. Known: echo.',
    '[triggers.issue] starts "nobody", but there is no flow or agent of this name now. Known: echo.',
  ]);
});
