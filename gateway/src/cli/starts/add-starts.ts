import { Argument, type Command, Option } from "commander";
import type { CliContext } from "../../session/context.ts";
import { dollars, listOf } from "../option-values.ts";
import type { StartsOptions } from "./schedules.ts";

// Loaded by the command that is called: none needs what all need.
const commands = () => import("./schedules.ts");

/** Makes the options that every command has. */
type CommonOptions = { readonly config: () => Option; readonly json: () => Option };

/** Adds the commands of what starts by itself: `schedules`, `triggers` and `notify`. */
export function addStarts(
  program: Command,
  context: CliContext,
  done: (exitCode: number) => void,
  { config, json }: CommonOptions,
): void {
  const leafOf =
    (group: Command) =>
    (name: string, description: string, isDefault = false) =>
      group.command(name, { isDefault }).description(description).addOption(config()).addOption(json());
  const one = (what: string) => new Argument("<name>", `the ${what}'s name`);
  addSchedules(program, context, done, leafOf);
  const triggers = leafOf(program.command("triggers").description("webhooks that start a flow or an agent"));
  triggers("list", "list your triggers and the URLs their senders post to", true).action(
    async (options: StartsOptions) => done(await (await commands()).listTriggers(options, context)),
  );
  triggers("show", "show a trigger and what its last webhooks started")
    .addArgument(one("trigger"))
    .action(async (name: string, options: StartsOptions) =>
      done(await (await commands()).showTrigger(name, options, context)),
    );
  for (const act of ["pause", "resume"] as const)
    triggers(act, act === "pause" ? "pause a trigger: its webhooks start nothing" : "resume a paused trigger")
      .addArgument(one("trigger"))
      .action(async (name: string, options: StartsOptions) =>
        done(await (await commands()).pauseTrigger(name, act, options, context)),
      );
  const notify = leafOf(program.command("notify").description("tell people when a run asks or ends"));
  notify("list", "list the targets in the settings", true).action(async (options: StartsOptions) =>
    done(await (await commands()).listTargets(options, context)),
  );
  notify("test", "send a target one message, to see whether it arrives")
    .addArgument(one("target"))
    .action(async (name: string, options: StartsOptions) =>
      done(await (await commands()).testTarget(name, options, context)),
    );
  notify("run", "tell targets about a run")
    .argument("<id>", "the run's id")
    .argument("<names...>", "the targets' names")
    .action(async (id: string, names: string[], options: StartsOptions) =>
      done(await (await commands()).notifyOfRun(id, names, options, context)),
    );
}

function addSchedules(
  program: Command,
  context: CliContext,
  done: (exitCode: number) => void,
  leafOf: (group: Command) => (name: string, description: string, isDefault?: boolean) => Command,
): void {
  const leaf = leafOf(program.command("schedules").description("start a flow or an agent at certain times"));
  const name = () => new Argument("<name>", "the schedule's name");
  leaf("list", "list your schedules and when each is due next", true).action(async (options: StartsOptions) =>
    done(await (await commands()).listSchedules(options, context)),
  );
  leaf("add", "add a schedule")
    .addArgument(name())
    .argument("<task>", "what to do each time; {{last.answer}} in it is what the last run answered")
    .requiredOption("--cron <expression>", 'when: five fields, such as "0 8 * * MON-FRI", or "@daily"')
    .requiredOption("--start <name>", "the flow or agent to start")
    .option("--time-zone <zone>", "such as Europe/Berlin (default: this machine's)")
    .option("--agents <list>", "the flow's agents, separated by commas", listOf)
    .addOption(new Option("--missed <rule>", "what to do about missed times").choices(["once", "skip"]).default("once"))
    .addOption(
      new Option("--overlap <rule>", "whether to start while the previous run is still working")
        .choices(["skip", "allow"])
        .default("skip"),
    )
    .option("--notify <list>", "targets to notify, separated by commas", listOf)
    .option("--budget-usd <amount>", "spending limit of each run, in US dollars", dollars)
    .action(async (one: string, task: string, options) =>
      done(await (await commands()).addSchedule(one, task, options, context)),
    );
  leaf("show", "show a schedule and the outcome of its last runs")
    .addArgument(name())
    .action(async (one: string, options: StartsOptions) =>
      done(await (await commands()).showSchedule(one, options, context)),
    );
  leaf("pause", "pause a schedule: nothing starts, nothing counts as missed")
    .addArgument(name())
    .action(async (one: string, options: StartsOptions) =>
      done(await (await commands()).pauseSchedule(one, "pause", options, context)),
    );
  leaf("resume", "resume a paused schedule")
    .addArgument(name())
    .action(async (one: string, options: StartsOptions) =>
      done(await (await commands()).pauseSchedule(one, "resume", options, context)),
    );
  leaf("remove", "remove a schedule that was added")
    .addArgument(name())
    .action(async (one: string, options: StartsOptions) =>
      done(await (await commands()).removeSchedule(one, options, context)),
    );
  leaf("run-now", "start a schedule's run now")
    .addArgument(name())
    .action(async (one: string, options: StartsOptions) =>
      done(await (await commands()).runScheduleNow(one, options, context)),
    );
}
