import { type AgentName, agentPorts } from "@manyhands/shared/config/agents";
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { demoCommand } from "../demo/demo.ts";
import { addMcp } from "./add-mcp.ts";
import { chatCommand } from "./chat.ts";
import { configCommand } from "./config-command.ts";
import type { CliContext } from "./context.ts";
import { doctorCommand } from "./doctor.ts";
import { runCommand } from "./run.ts";
import { answerRun, cancelRun, listRuns, type RunsOptions, resumeRun, showRun, watchRun } from "./runs.ts";
import { startCommand } from "./start-command.ts";

/** The command line. `done` is told the exit code of the command that ran. */
export function manyhandsProgram(context: CliContext, done: (exitCode: number) => void): Command {
  const program = new Command("manyhands")
    .description("Agents that work on your tasks, durably, and speak A2A.")
    .showHelpAfterError(true)
    .configureOutput({ writeOut: context.terminal.out, writeErr: (text) => context.terminal.say(text.trimEnd()) })
    .exitOverride();
  const leaf = (name: string, description: string) =>
    program.command(name).description(description).addOption(configOption());

  leaf("start", "start the agents and keep them up until Ctrl-C").action(async (options) =>
    done(await startCommand(options, context)),
  );
  leaf("demo", "run the demo task and check its result").action(async (options) =>
    done(await demoCommand(options, context)),
  );
  leaf("run", "give an agent one task")
    .argument("<task...>", "what to do, in plain words")
    .addOption(agentOption())
    .addOption(jsonOption())
    .option("--budget-usd <amount>", "end the task before it costs more", dollars)
    .option("--file <path>", "a file for the agent; may be given several times", collect)
    .option("--context <id>", "go on in this conversation")
    .action(async (task: string[], options) => done(await runCommand(task.join(" "), options, context)));
  leaf("chat", "talk with an agent")
    .addOption(agentOption())
    .option("--context <id>", "go on in this conversation")
    .action(async (options) => done(await chatCommand(options, context)));
  leaf("doctor", "check this machine and say what to do")
    .addOption(jsonOption())
    .action(async (options) => done(await doctorCommand(options, context)));
  leaf("config", "show every setting in effect and where it comes from")
    .addOption(jsonOption())
    .action(async (options) => done(await configCommand(options, context)));
  addRuns(program, context, done);
  addMcp(program, context, done, { config: configOption, json: jsonOption });
  return program;
}

function addRuns(program: Command, context: CliContext, done: (exitCode: number) => void): void {
  const runs = program.command("runs").description("look at runs, answer, resume and cancel them");
  const leaf = (name: string, description: string, isDefault = false) =>
    runs
      .command(name, { isDefault })
      .description(description)
      .addOption(configOption())
      .addOption(agentOption())
      .addOption(jsonOption());
  const id = () => new Argument("<id>", "the run's id");
  leaf("list", "the newest runs", true)
    .option("--limit <count>", "how many", wholeNumber, 20)
    .action(async (options) => done(await listRuns(options, context)));
  leaf("show", "everything that happened in a run")
    .addArgument(id())
    .action(async (run: string, options: RunsOptions) => done(await showRun(run, options, context)));
  leaf("watch", "follow a run until it ends")
    .addArgument(id())
    .action(async (run: string, options: RunsOptions) => done(await watchRun(run, options, context)));
  leaf("cancel", "end a run")
    .addArgument(id())
    .action(async (run: string, options: RunsOptions) => done(await cancelRun(run, options, context)));
  leaf("resume", "let a paused run try again")
    .addArgument(id())
    .action(async (run: string, options: RunsOptions) => done(await resumeRun(run, options, context)));
  leaf("answer", "answer the question a run waits with")
    .addArgument(id())
    .argument("<text...>", "the answer")
    .action(async (run: string, text: string[], options: RunsOptions) =>
      done(await answerRun(run, text.join(" "), options, context)),
    );
}

function agentOption(): Option {
  const names = Object.keys(agentPorts);
  const fallback: AgentName = "manus";
  return new Option("--agent <name>", "which agent").choices(names).default(fallback);
}

function jsonOption(): Option {
  return new Option("--json", "JSON on standard output and nothing else");
}

function configOption(): Option {
  return new Option("--config <file>", "settings file (default: manyhands.toml in the working directory)");
}

function collect(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value];
}

function dollars(value: string): number {
  const amount = Number(value);
  if (value.trim() === "" || !Number.isFinite(amount) || amount < 0)
    throw new InvalidArgumentError("It must be an amount of US dollars.");
  return amount;
}

function wholeNumber(value: string): number {
  if (!/^[1-9]\d{0,3}$/.test(value)) throw new InvalidArgumentError("It must be a whole number from 1 to 9999.");
  return Number(value);
}
