import { defined } from "manyhands/internal/core/json";
import { findRunnable, type Runnables } from "manyhands/internal/runs/runnable";
import type { Runs } from "manyhands/internal/runs/runs";
import * as z from "zod";
import { endpoint, type RestEndpoint } from "../../rest/endpoint.ts";
import { preferredWait } from "../../rest/prefer.ts";
import { answerStarted, startedAnswers, startHeaders } from "../../rest/runs/started-run.ts";
import type { Notifications } from "../notify/notifications.ts";
import { firingSchema, firingView, startName, startShape } from "../start-schemas.ts";
import type { Schedule, Schedules } from "./schedules.ts";

/** What the routes of schedules need. */
export type ScheduleRoutesDeps = {
  readonly schedules: Schedules;
  readonly notifications: Pick<Notifications, "check">;
  readonly runnables: Runnables;
  readonly runs: Pick<Runs, "settled" | "view">;
};

const timing = {
  cron: z.string().min(1).max(200).describe('Five fields, such as "0 8 * * MON-FRI", or "@daily" and the like.'),
  timeZone: z.string().min(1).max(100).describe("Such as Europe/Berlin."),
  missed: z.enum(["once", "skip"]).describe("Whether times that were missed are made up for, by one run."),
  overlap: z.enum(["skip", "allow"]).describe("Whether it starts while its last run has not ended."),
  notify: z.array(z.string().min(1)).max(10).describe("Who is told: see GET /notify."),
};

const newSchedule = z
  .strictObject({
    name: startName,
    ...startShape,
    task: startShape.task.describe(
      "`{{last.answer}}` in it is what its last run answered, `{{last.time}}` when that was.",
    ),
    ...timing,
    timeZone: timing.timeZone.default("UTC"),
    missed: timing.missed.default("once"),
    overlap: timing.overlap.default("skip"),
    notify: timing.notify.default([]),
  })
  .meta({ id: "NewSchedule" });

const scheduleSchema = z
  .object({
    name: z.string(),
    ...startShape,
    ...timing,
    origin: z.enum(["settings", "added"]).describe("`settings`: written in manyhands.toml."),
    paused: z.boolean(),
    next: z.iso.datetime().exactOptional().describe("When it is due next, unless it is paused."),
    firings: z.array(firingSchema).describe("What became of the last times, the newest first."),
  })
  .meta({ id: "Schedule" });

const params = z.object({ name: z.string().min(1).max(200) });
const one = { 200: { description: "The schedule.", body: scheduleSchema } };

/** `/schedules` and the routes below it. */
export function scheduleRoutes(deps: ScheduleRoutesDeps): RestEndpoint[] {
  const { schedules } = deps;
  return [
    listSchedules(deps),
    addSchedule(deps),
    byName("get", "", "A schedule, with what became of its last times", [404], (name, principal) =>
      schedules.get(name, principal),
    ),
    removeSchedule(deps),
    byName("post", "/pause", "Pauses a schedule: nothing is due, and nothing is missed", [404], (name, principal) =>
      schedules.pause(name, principal),
    ),
    byName("post", "/resume", "Resumes a schedule from now on", [404], (name, principal) =>
      schedules.resume(name, principal),
    ),
    runNow(deps),
  ];
}

function listSchedules({ schedules }: ScheduleRoutesDeps): RestEndpoint {
  const about = {
    method: "get",
    path: "/schedules",
    tag: "schedules",
    summary: "Your schedules",
    request: {},
    answers: { 200: { description: "The schedules.", body: z.object({ schedules: z.array(scheduleSchema) }) } },
    problems: [],
  } as const;
  return endpoint(about, async (_, c) =>
    c.json({ schedules: (await schedules.list(c.get("caller").principal)).map(scheduleView) }),
  );
}

function addSchedule({ schedules, notifications, runnables }: ScheduleRoutesDeps): RestEndpoint {
  const about = {
    method: "post",
    path: "/schedules",
    tag: "schedules",
    summary: "Adds a schedule: it starts a run of yours whenever it is due",
    request: { body: newSchedule },
    answers: { 201: { description: "The schedule.", body: scheduleSchema } },
    problems: [404, 409],
  } as const;
  return endpoint(about, async ({ body: { agents, options, ...schedule } }, c) => {
    const { principal, byToken } = c.get("caller");
    findRunnable(runnables, schedule.start);
    notifications.check(schedule.notify, principal);
    const settings = defined({ agents, options });
    return c.json(
      scheduleView(await schedules.add({ ...schedule, settings, ...(byToken && { byToken }) }, principal)),
      201,
    );
  });
}

function byName(
  method: "get" | "post",
  below: string,
  summary: string,
  problems: readonly number[],
  act: (name: string, principal: string) => Promise<Schedule>,
): RestEndpoint {
  const about = {
    method,
    path: `/schedules/{name}${below}`,
    tag: "schedules",
    summary,
    request: { params },
    answers: one,
    problems,
  };
  return endpoint(about, async ({ params: { name } }, c) =>
    c.json(scheduleView(await act(name, c.get("caller").principal))),
  );
}

function removeSchedule({ schedules }: ScheduleRoutesDeps): RestEndpoint {
  const about = {
    method: "delete",
    path: "/schedules/{name}",
    tag: "schedules",
    summary: "Removes a schedule that was added; its runs stay",
    request: { params },
    answers: { 204: { description: "Removed." } },
    problems: [404, 409],
  } as const;
  return endpoint(about, async ({ params: { name } }, c) => {
    await schedules.remove(name, c.get("caller").principal);
    return c.body(null, 204);
  });
}

function runNow({ schedules, runs }: ScheduleRoutesDeps): RestEndpoint {
  const about = {
    method: "post",
    path: "/schedules/{name}/run",
    tag: "schedules",
    summary: "Starts a schedule's run now, whether or not it is due or paused",
    description: "`Prefer` and `Idempotency-Key` count as for a flow.",
    request: { params, headers: startHeaders },
    answers: startedAnswers,
    problems: [404, 409, 429],
  } as const;
  return endpoint(about, async ({ params: { name }, headers }, c) => {
    const waitMs = preferredWait(headers.prefer);
    const key = headers["idempotency-key"] ?? crypto.randomUUID();
    return answerStarted(c, runs, await schedules.runNow(name, c.get("caller").principal, key), waitMs);
  });
}

function scheduleView({ isConfigured, next, firings, settings, principal: _, ...schedule }: Schedule) {
  const { name, start, task, budget, cron, timeZone, missed, overlap, notify, paused } = schedule;
  return {
    ...{ name, start, task, cron, timeZone, missed, overlap, notify, paused },
    ...settings,
    ...(budget && { budget }),
    origin: isConfigured ? "settings" : "added",
    ...(next !== undefined && { next: new Date(next).toISOString() }),
    firings: firings.map(firingView),
  };
}
