import { expect, test } from "bun:test";
import type { ListedToken } from "manyhands/internal/auth/auth-store";
import { AppError } from "manyhands/internal/core/errors";
import type { KeptText } from "manyhands/internal/core/text/kept-text";
import { startsForTest } from "../../testing/starts.ts";
import { notifyKind } from "../notify/notify-run.ts";
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

/** A book that refuses to hold a run: its gateway is killed between a start and its record. */
function killedBook(kept: KeptText): KeptText {
  const change: KeptText["change"] = (next) =>
    kept.change((now) => {
      const made = next(now);
      if (made.includes('"runId"')) throw new AppError("storage_unavailable", "killed");
      return made;
    });
  return { ...kept, change };
}

const eighth = at("2026-11-03T08:00:00Z");

test("a gateway that dies between the start and its record starts nothing twice: its run counts for the time, whoever looks when", async () => {
  for (const [missed, later, told] of [
    ["once", "2026-11-03T08:00:10Z", 1],
    ["once", "2026-11-03T09:00:00Z", 1],
    ["skip", "2026-11-03T09:00:00Z", 1],
    // The next time has come meanwhile.
    ["skip", "2026-11-04T08:00:00Z", 2],
    ["once", "2026-11-05T09:00:00Z", 2],
  ] as const) {
    await using one = await startsForTest({}, noon);
    await one.schedules.add({ ...daily, missed }, "local");
    one.clock.now = eighth + 1_000;
    const dying = await one.another({ kept: killedBook(one.kept) });
    await dying.schedules.tick();
    const [run] = (await one.engine.list({ limit: 1 })).runs;
    expect((await one.schedules.get("report", "local")).firings).toEqual([]);
    one.clock.now = at(later);
    await one.schedules.tick();
    await one.schedules.tick();
    expect(await one.told()).toHaveLength(told);
    const { firings } = await one.schedules.get("report", "local");
    expect(firings.at(-1)).toMatchObject({ due: eighth, outcome: "started", runId: run?.id ?? "" });
    expect(firings.map(({ due }) => due)).toEqual([...new Set(firings.map(({ due }) => due))]);
  }
});

test("a gateway that is late to record one time leaves what another has begun for the next", async () => {
  await using one = await startsForTest({}, noon);
  await one.schedules.add({ ...daily, overlap: "allow", missed: "skip" }, "local");
  one.clock.now = eighth + 1_000;
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const start = async (...request: Parameters<typeof one.runs.start>) => {
    const run = await one.runs.start(...request);
    begun.resolve();
    await gate.promise;
    return run;
  };
  const late = (await one.another({ runs: { ...one.runs, start } })).schedules.tick();
  await begun.promise;
  const next = at("2026-11-04T08:00:00Z");
  one.clock.now = next + 1_000;
  // Killed before it could record the run of the next time.
  const change: KeptText["change"] = (make) =>
    one.kept.change((now) => {
      const made = make(now);
      if (new RegExp(`"due":${next}[^}]*"runId"`).test(made)) throw new AppError("storage_unavailable", "killed");
      return made;
    });
  await (await one.another({ kept: { ...one.kept, change } })).schedules.tick();
  gate.resolve();
  await late;
  one.clock.now = next + 3_600_000;
  await one.schedules.tick();
  const { firings } = await one.schedules.get("report", "local");
  expect(firings.map(({ due, outcome }) => [due, outcome])).toEqual([
    [next, "started"],
    [eighth, "started"],
  ]);
  expect(await one.told()).toHaveLength(2);
});

test("a gateway that dies before the start leaves the time to the schedule's rule", async () => {
  for (const [missed, outcome] of [
    ["once", "made-up"],
    ["skip", "missed"],
  ] as const) {
    await using one = await startsForTest({}, noon);
    await one.schedules.add({ ...daily, missed }, "local");
    one.clock.now = eighth + 1_000;
    const start = () => Promise.reject(new Error("killed"));
    await (await one.another({ runs: { ...one.runs, start } })).schedules.tick();
    one.clock.now = eighth + 3_600_000;
    await one.schedules.tick();
    expect((await one.schedules.get("report", "local")).firings).toMatchObject([{ due: eighth, outcome }]);
  }
});

test("the run of a gateway that died is waited for, and its targets are told", async () => {
  const toml = '[notify.me]\ntype = "webhook"\nurl = "http://127.0.0.1:1/in"\n';
  await using one = await startsForTest({}, { ...noon, toml });
  await one.schedules.add({ ...daily, cron: "*/5 * * * *", task: "sleep", notify: ["me"] }, "local");
  one.clock.now = at("2026-11-02T12:05:01Z");
  // Killed before it could ask for the notification.
  const start = async (...request: Parameters<typeof one.runs.start>) => {
    await one.runs.start(...request);
    throw new Error("killed");
  };
  await (await one.another({ runs: { ...one.runs, start } })).schedules.tick();
  one.clock.now = at("2026-11-02T12:10:01Z");
  await one.schedules.tick();
  expect(await one.told()).toEqual(["sleep"]);
  const { firings } = await one.schedules.get("report", "local");
  expect(firings.map(({ outcome }) => outcome)).toEqual(["skipped", "started"]);
  expect((await one.engine.list({ kind: notifyKind, limit: 9 })).total).toBe(1);
});

test("what a caller with a token scheduled starts while its principal has a token that may start runs", async () => {
  const tokens: ListedToken[] = [];
  const token = (name: string, scope: "read" | "run", more: Partial<ListedToken> = {}): ListedToken => ({
    ...{ name, principal: "alice", scopes: [scope], createdAt: 0 },
    ...more,
  });
  await using one = await startsForTest({}, { ...noon, tokens: { list: async () => tokens } });
  await one.schedules.add({ ...daily, byToken: true }, "alice");
  await one.schedules.add({ ...daily, name: "ours", task: "The operator's" }, "alice");
  const outcomes: (string | undefined)[] = [];
  for (const [day, now] of Object.entries({
    "03": [token("old", "run"), token("new", "run")],
    "04": [token("new", "run", { expiresAt: at("2027-01-01T00:00:00Z") })],
    "05": [token("dashboard", "read"), token("bobs", "run", { principal: "bob" })],
    "06": [token("new", "run", { expiresAt: at("2026-11-06T07:00:00Z") })],
    "07": [token("newest", "run")],
  })) {
    tokens.splice(0, tokens.length, ...now);
    one.clock.now = at(`2026-11-${day}T08:00:01Z`);
    await one.schedules.tick();
    await one.schedules.tick();
    outcomes.push((await one.schedules.get("report", "alice")).firings[0]?.outcome);
  }
  expect(outcomes).toEqual(["started", "started", "refused", "refused", "started"]);
  const refused = (await one.schedules.get("report", "alice")).firings[1];
  expect(refused?.reason).toBe("alice no longer has a token that lets it start runs");
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
  // One that is not paused has nothing to resume, and what is due stays due.
  one.clock.now = at("2026-11-07T08:00:01Z");
  await one.schedules.resume("report", "local");
  await one.schedules.tick();
  expect(await one.told()).toEqual(["Report", "Report"]);
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

test("a run by hand and one that is due are two, whatever the key says, and the targets are told of both", async () => {
  const toml = '[notify.me]\ntype = "webhook"\nurl = "http://127.0.0.1:1/in"\n';
  await using one = await startsForTest({}, { ...noon, toml });
  await one.schedules.add({ ...daily, overlap: "allow", notify: ["me"] }, "local");
  const told = async () =>
    (await one.engine.list({ kind: notifyKind, limit: 9 })).runs.map(({ contextId }) => contextId);
  const { id } = await one.schedules.runNow("report", "local", new Date(eighth).toISOString());
  expect(await told()).toEqual([id]);
  one.clock.now = eighth + 1_000;
  await one.schedules.tick();
  expect(await one.told()).toHaveLength(2);
  const [due] = (await one.schedules.get("report", "local")).firings;
  expect((await told()).toSorted()).toEqual([id, due?.runId ?? ""].toSorted());
});

test("settings with times that cannot be read are refused with the name of the table", async () => {
  const toml = '[schedules.nightly]\ncron = "0 99 * * *"\nstart = "echo"\ntask = "Tidy up"\n';
  await expect(startsForTest({}, { ...noon, toml })).rejects.toThrow(/\[schedules.nightly\] cron: "0 99 \* \* \*"/);
});
