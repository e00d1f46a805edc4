import { expect, test } from "bun:test";
import { callerNamed } from "manyhands/internal/core/caller";
import { AppError } from "manyhands/internal/core/errors";
import { echo } from "../testing/gateway.ts";
import { noting, restForTest } from "../testing/rest.ts";
import { notifyRoutes } from "./notify/notify-routes.ts";
import { scheduleRoutes } from "./schedules/schedule-routes.ts";
import { triggerRoutes } from "./triggers/trigger-routes.ts";

const firing = { due: 0, at: 1_000, outcome: "started", runId: "r1" } as const;
const settings = { agents: ["manus"], options: { rounds: 2 } };
const schedule = {
  ...{ name: "report", principal: "ann", start: "echo", task: "Report", settings, budget: { steps: 3 } },
  ...{ cron: "0 8 * * *", timeZone: "UTC", missed: "skip", overlap: "allow", notify: ["me"] },
  ...{ isConfigured: false, createdAt: 5, byToken: true, paused: true, next: undefined, firings: [firing] },
};
const asked = { name: "report", cron: "0 8 * * *", start: "echo", task: "Report" };
const ann = callerNamed("ann");

function scheduling(caller = ann) {
  const { asked: calls, functions } = noting({
    ...{ add: schedule, get: schedule, list: [schedule], pause: schedule, resume: schedule },
    ...{ remove: undefined, runNow: { id: "r7" } },
  });
  const { functions: runs } = noting({
    view: { id: "r7", input: "Report", status: "completed" },
    settled: { id: "r7" },
  });
  const check = (names: readonly string[], principal: string) => {
    calls.push(["check", names, principal]);
    if (names.includes("theirs")) throw new AppError("not_found", "There is no such target.");
  };
  const deps = {
    ...{ schedules: functions, notifications: { check }, runs },
    runnables: { all: () => [echo], ofKind: () => echo },
  };
  return { ...restForTest(scheduleRoutes(deps as never), caller), calls };
}

test("a schedule is its caller's, with what was left out by default, and it is kept whether a token added it", async () => {
  const rest = { timeZone: "UTC", missed: "once", overlap: "skip", notify: [], settings: {} };
  const byToken = scheduling({ ...ann, byToken: true });
  expect((await byToken.ask("POST", "/schedules", { json: asked })).status).toBe(201);
  expect(byToken.calls).toEqual([
    ["check", [], "ann"],
    ["add", { ...asked, ...rest, byToken: true }, "ann"],
  ]);
  const { ask, calls } = scheduling();
  await ask("POST", "/schedules", { json: { ...asked, ...settings, budget: { usd: 1 }, notify: ["me"] } });
  expect(calls).toEqual([
    ["check", ["me"], "ann"],
    ["add", { ...asked, ...rest, settings, budget: { usd: 1 }, notify: ["me"] }, "ann"],
  ]);
});

test("a schedule that is run now answers as every start of a run does, and waits if that is preferred", async () => {
  const { ask, calls } = scheduling();
  const run = (headers?: Record<string, string>) => ask("POST", "/schedules/report/run", headers && { headers });
  const started = await run({ Prefer: "respond-async" });
  expect([started.status, started.headers.get("Preference-Applied")]).toEqual([202, null]);
  expect(await started.json()).toEqual({ runId: "r7", id: "r7", input: "Report", status: "completed" });
  const ended = await run({ Prefer: "wait=5" });
  expect([ended.status, ended.headers.get("Preference-Applied")]).toEqual([200, "wait=5"]);
  calls.splice(0);
  expect((await run({ Prefer: "wait=soon" })).status).toBe(400);
  expect(calls).toEqual([]);
});

test("a schedule that names who is not there, or may not be told, or has no name's form, is not added", async () => {
  const { ask, calls } = scheduling();
  expect((await ask("POST", "/schedules", { json: { ...asked, start: "nobody" } })).status).toBe(404);
  expect((await ask("POST", "/schedules", { json: { ...asked, notify: ["theirs"] } })).status).toBe(404);
  expect((await ask("POST", "/schedules", { json: { ...asked, principal: "bob" } })).status).toBe(400);
  expect(calls.map(([name]) => name)).toEqual(["check"]);
  // The settings would refuse these names too.
  for (const name of ["a--b", "a-", "1a", "A", "a".repeat(61)])
    expect((await ask("POST", "/schedules", { json: { ...asked, name } })).status).toBe(400);
});

test("each route of a schedule does what it says, in its caller's name, and shows what is the caller's to see", async () => {
  const { ask, calls } = scheduling();
  for (const [method, path] of [
    ["GET", "/schedules/report"],
    ["POST", "/schedules/report/pause"],
    ["POST", "/schedules/report/resume"],
    ["DELETE", "/schedules/report"],
    ["GET", "/schedules"],
  ] as const)
    expect((await ask(method, path)).ok).toBe(true);
  const named = (name: string) => [name, "report", "ann"];
  expect(calls.splice(0)).toEqual([...["get", "pause", "resume", "remove"].map(named), ["list", "ann"]] as never);
  const started = await ask("POST", "/schedules/report/run", { headers: { "Idempotency-Key": "k1" } });
  expect([started.status, started.headers.get("Location")]).toEqual([202, "/runs/r7"]);
  await ask("POST", "/schedules/report/run");
  await ask("POST", "/schedules/report/run");
  const keys = calls.map(([, name, principal, key]) => [name, principal, key]);
  expect(keys[0]).toEqual(["report", "ann", "k1"]);
  expect(new Set(keys.map(([, , key]) => key)).size).toBe(3);
  expect(await (await ask("GET", "/schedules/report")).json()).toEqual({
    ...{ name: "report", start: "echo", task: "Report", ...settings, budget: { steps: 3 } },
    ...{ cron: "0 8 * * *", timeZone: "UTC", missed: "skip", overlap: "allow", notify: ["me"] },
    ...{ origin: "added", paused: true },
    firings: [{ ...firing, due: "1970-01-01T00:00:00.000Z", at: "1970-01-01T00:00:01.000Z" }],
  });
});

test("who is told of a run, and a test of it, are in the caller's name, and a test ends with its request", async () => {
  const { asked: calls, functions } = noting({ watch: undefined, test: undefined });
  const { asked: owned, functions: runs } = noting({ own: { id: "r1", principal: "ann" } });
  const list = (principal: string) => [{ name: principal, type: "slack" }];
  const { ask } = restForTest(notifyRoutes({ notifications: { ...functions, list }, runs } as never), ann);
  expect((await ask("POST", "/runs/r1/notify", { json: { targets: ["me", "you"] } })).status).toBe(204);
  expect([owned, calls.splice(0)]).toEqual([
    [["own", "r1", "ann"]],
    [["watch", { id: "r1", principal: "ann" }, ["me", "you"]]],
  ]);
  const end = new AbortController();
  expect((await ask("POST", "/notify/me/test", { signal: end.signal })).status).toBe(204);
  const [name, target, principal, signal] = calls[0] ?? [];
  expect([name, target, principal, (signal as AbortSignal).aborted]).toEqual(["test", "me", "ann", false]);
  end.abort();
  expect((signal as AbortSignal).aborted).toBe(true);
  expect(await (await ask("GET", "/notify")).json()).toEqual({ targets: [{ name: "ann", type: "slack" }] });
});

test("triggers are the caller's, shown with their address and without their principal", async () => {
  const about = { name: "hub", type: "github", start: "echo", task: "Look", events: [], notify: [], paused: false };
  const trigger = { ...about, principal: "ann", settings, firings: [firing] };
  const { asked: calls, functions } = noting({ get: trigger, list: [trigger], pause: trigger, resume: trigger });
  const { ask } = restForTest(triggerRoutes({ triggers: functions, publicUrl: "https://a/" } as never), ann);
  const shown = await (await ask("GET", "/triggers/hub")).json();
  for (const way of ["pause", "resume"]) await ask("POST", `/triggers/hub/${way}`);
  await ask("GET", "/triggers");
  expect(calls).toEqual([...["get", "pause", "resume"].map((name) => [name, "hub", "ann"]), ["list", "ann"]] as never);
  expect(shown).toEqual({ ...about, ...settings, url: "https://a/hooks/hub", firings: [expect.any(Object)] });
});
