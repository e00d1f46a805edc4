import { ownCommand } from "manyhands/internal/core/release";
import * as z from "zod";
import type { CliContext } from "../../session/context.ts";
import { safeLine } from "../../terminal/safe-text.ts";
import { atGateway } from "../at-gateway.ts";

/** Options of every command about schedules, triggers and notifications. */
export type StartsOptions = { readonly json?: boolean; readonly config?: string };

/** What `schedules add` is told. */
export type NewScheduleOptions = StartsOptions & {
  readonly cron: string;
  readonly start: string;
  readonly timeZone?: string;
  readonly agents?: readonly string[];
  readonly missed: "once" | "skip";
  readonly overlap: "skip" | "allow";
  readonly notify?: readonly string[];
  readonly budgetUsd?: number;
};

const firing = z.looseObject({
  due: z.string(),
  outcome: z.string(),
  missed: z.number().optional(),
  runId: z.string().optional(),
  reason: z.string().optional(),
  event: z.string().optional(),
});

const schedule = z.looseObject({
  name: z.string(),
  cron: z.string(),
  timeZone: z.string(),
  start: z.string(),
  task: z.string(),
  paused: z.boolean(),
  next: z.string().optional(),
  firings: z.array(firing),
});

const trigger = z.looseObject({
  name: z.string(),
  type: z.string(),
  url: z.string(),
  start: z.string(),
  task: z.string(),
  paused: z.boolean(),
  firings: z.array(firing),
});

type Firing = z.output<typeof firing>;

/** Lists the schedules. */
export function listSchedules(options: StartsOptions, context: CliContext): Promise<number> {
  return atGateway(options, context, async (call) => {
    const { schedules } = await call(z.object({ schedules: z.array(schedule) }), "/schedules");
    if (options.json) return print(schedules, context);
    if (schedules.length === 0)
      context.terminal.say(`There are no schedules. Add one with \`${ownCommand} schedules add\`.`);
    for (const one of schedules) context.terminal.out(scheduleRow(one));
  });
}

/** Adds one, in this machine's time zone unless it is told another. */
export function addSchedule(
  name: string,
  task: string,
  options: NewScheduleOptions,
  context: CliContext,
): Promise<number> {
  const { cron, start, agents, missed, overlap, notify, budgetUsd } = options;
  const timeZone = options.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const body = {
    ...{ name, task, cron, start, timeZone, missed, overlap },
    ...(agents && { agents }),
    ...(notify && { notify }),
    ...(budgetUsd !== undefined && { budget: { usd: budgetUsd } }),
  };
  return showing(schedule, scheduleRow, "/schedules", { method: "POST", body: JSON.stringify(body) }, options, context);
}

/** Shows one, with what became of its last times. */
export function showSchedule(name: string, options: StartsOptions, context: CliContext): Promise<number> {
  return showing(schedule, scheduleText, pathOf("schedules", name), undefined, options, context);
}

/** Pauses or resumes one. */
export function pauseSchedule(
  name: string,
  act: "pause" | "resume",
  options: StartsOptions,
  context: CliContext,
): Promise<number> {
  return showing(schedule, scheduleRow, `${pathOf("schedules", name)}/${act}`, { method: "POST" }, options, context);
}

/** Removes one that was added. */
export function removeSchedule(name: string, options: StartsOptions, context: CliContext): Promise<number> {
  return atGateway(options, context, async (call) => {
    await call(z.unknown(), pathOf("schedules", name), { method: "DELETE" });
    context.terminal.say(`Removed ${name}. Its runs stay.`);
  });
}

/** Starts one's run now. */
export function runScheduleNow(name: string, options: StartsOptions, context: CliContext): Promise<number> {
  const row = ({ id }: { readonly id: string }) => `Started run ${id}. \`${ownCommand} runs show ${id}\` shows it.\n`;
  const run = z.looseObject({ id: z.string() });
  return showing(run, row, `${pathOf("schedules", name)}/run`, { method: "POST" }, options, context);
}

/** Lists the triggers. */
export function listTriggers(options: StartsOptions, context: CliContext): Promise<number> {
  return atGateway(options, context, async (call) => {
    const { triggers } = await call(z.object({ triggers: z.array(trigger) }), "/triggers");
    if (options.json) return print(triggers, context);
    if (triggers.length === 0) context.terminal.say("There are no triggers: the settings have no [triggers.NAME].");
    for (const one of triggers) context.terminal.out(triggerRow(one));
  });
}

/** Shows one, with what its last webhooks started. */
export function showTrigger(name: string, options: StartsOptions, context: CliContext): Promise<number> {
  return showing(trigger, triggerText, pathOf("triggers", name), undefined, options, context);
}

/** Pauses or resumes one. */
export function pauseTrigger(
  name: string,
  act: "pause" | "resume",
  options: StartsOptions,
  context: CliContext,
): Promise<number> {
  return showing(trigger, triggerRow, `${pathOf("triggers", name)}/${act}`, { method: "POST" }, options, context);
}

/** Lists who can be told of runs. */
export function listTargets(options: StartsOptions, context: CliContext): Promise<number> {
  const target = z.looseObject({ name: z.string(), type: z.string() });
  return atGateway(options, context, async (call) => {
    const { targets } = await call(z.object({ targets: z.array(target) }), "/notify");
    if (options.json) return print(targets, context);
    if (targets.length === 0) context.terminal.say("Nobody can be told: the settings have no [notify.NAME].");
    for (const { name, type } of targets) context.terminal.out(`${safeLine(name, 60)}  ·  ${type}\n`);
  });
}

/** Sends one message to a target. */
export function testTarget(name: string, options: StartsOptions, context: CliContext): Promise<number> {
  return atGateway(options, context, async (call) => {
    await call(z.unknown(), `${pathOf("notify", name)}/test`, { method: "POST" });
    context.terminal.say(`${name} took a message.`);
  });
}

/** Tells targets of a run. */
export function notifyOfRun(
  runId: string,
  targets: readonly string[],
  options: StartsOptions,
  context: CliContext,
): Promise<number> {
  return atGateway(options, context, async (call) => {
    await call(z.unknown(), `${pathOf("runs", runId)}/notify`, { method: "POST", body: JSON.stringify({ targets }) });
    context.terminal.say(`${targets.join(", ")} will be told when it asks something and when it has ended.`);
  });
}

function showing<Answer>(
  wanted: z.ZodType<Answer>,
  text: (answer: Answer) => string,
  path: string,
  init: { readonly method: string; readonly body?: string } | undefined,
  options: StartsOptions,
  context: CliContext,
): Promise<number> {
  return atGateway(options, context, async (call) => {
    const answer = await call(wanted, path, init);
    if (options.json) print(answer, context);
    else context.terminal.out(text(answer));
  });
}

function print(answer: unknown, { terminal }: CliContext): void {
  terminal.out(`${JSON.stringify(answer, undefined, 2)}\n`);
}

function pathOf(section: string, name: string): string {
  return `/${section}/${encodeURIComponent(name)}`;
}

function scheduleRow({ name, cron, timeZone, start, paused, next = "never", firings }: z.output<typeof schedule>) {
  const facts = [safeLine(name, 60), `${cron} ${timeZone}`, safeLine(start, 60), paused ? "paused" : `next ${next}`];
  return row([...facts, ...lastOf(firings)]);
}

function triggerRow({ name, type, url, start, paused, firings }: z.output<typeof trigger>) {
  const facts = [safeLine(name, 60), type, safeLine(start, 60), safeLine(url, 200), ...(paused ? ["paused"] : [])];
  return row([...facts, ...lastOf(firings)]);
}

function scheduleText(one: z.output<typeof schedule>): string {
  return [scheduleRow(one), `    ${safeLine(one.task, 200)}\n`, ...one.firings.map(firingRow)].join("");
}

function triggerText(one: z.output<typeof trigger>): string {
  return [triggerRow(one), `    ${safeLine(one.task, 200)}\n`, ...one.firings.map(firingRow)].join("");
}

function lastOf([last]: readonly Firing[]): string[] {
  return last === undefined ? [] : [`last ${last.outcome} ${last.due}`];
}

function firingRow({ due, outcome, missed, runId, reason, event }: Firing): string {
  const said = [event, missed === undefined ? undefined : `${missed} missed`, runId && `run ${runId}`, reason];
  return `    ${row([due, outcome, ...said.flatMap((one) => (one === undefined ? [] : [safeLine(one, 300)]))])}`;
}

function row(facts: readonly string[]): string {
  return `${facts.join("  ·  ")}\n`;
}
