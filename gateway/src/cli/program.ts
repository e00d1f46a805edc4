import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { nearestName } from "manyhands/internal/config/settings/nearest";
import type { Json } from "manyhands/internal/core/json";
import { ownCommand, version } from "manyhands/internal/core/release";
import { runStates } from "manyhands/internal/runs/run-view";
import type { CliContext } from "../session/context.ts";
import { completionScript, shells } from "./completion.ts";
import { addMcp } from "./mcp/add-mcp.ts";
import { addMemoryCommands } from "./memory/add-memory.ts";
import { addOperation } from "./operation.ts";
import { dollars, listOf, wholeNumber } from "./option-values.ts";
import { addProfiles } from "./profiles/add-profiles.ts";
import type { RunOptions } from "./runs/run.ts";
import type { RunsOptions } from "./runs/runs.ts";
import { addSkills } from "./skills/add-skills.ts";

// Loaded by the command that is called: none needs what all need.
const demo = () => import("../demo/demo.ts");
const doctor = () => import("../doctor/doctor.ts");
const agentsModule = () => import("./agents.ts");
const config = () => import("./config-command.ts");
const init = () => import("./init.ts");
const chat = () => import("./runs/chat.ts");
const deletion = () => import("./runs/delete-runs.ts");
const exporting = () => import("./runs/export-run.ts");
const flows = () => import("./runs/flow.ts");
const running = () => import("./runs/run.ts");
const runsModule = () => import("./runs/runs.ts");
const starting = () => import("./start-command.ts");

/** The command line. `done` receives the exit code of the command that ran. */
export function manyhandsProgram(context: CliContext, done: (exitCode: number) => void): Command {
  const program = new Command("manyhands")
    .description("Agents that work on your tasks, durably, and speak A2A.")
    .version(version, "-V, --version", "show the version")
    .configureOutput({ writeOut: context.terminal.out, writeErr: (text) => context.terminal.say(text.trimEnd()) })
    .exitOverride();
  const leaf = (name: string, description: string) =>
    program.command(name).description(description).addOption(configOption());

  addSetup(program, context, done);
  leaf("start", "start the agents and the gateway, until Ctrl-C").action(async (options) =>
    done(await (await starting()).startCommand(options, context)),
  );
  leaf("demo", "run the demo task and check its result").action(async (options) =>
    done(await (await demo()).demoCommand(options, context)),
  );
  leaf("run", "give a task to an agent or a flow")
    .argument("[task...]", "what to do, in plain words; omit it or use - to read standard input")
    .addOption(agentOption())
    .addOption(flowOption())
    .addOption(jsonOption())
    .addOption(schemaOption())
    .option("--budget-usd <amount>", "spending limit of the task, in US dollars", dollars)
    .addOption(repeatable("--file <path>", "a file or folder for the agent; repeatable; - is standard input"))
    .option("--context <id>", "continue this conversation")
    .action(async (task: string[], options) => done(await giveTask(task.join(" "), options, context)));
  leaf("flow", "list the flows, or give a flow a task for several agents")
    .argument("[name]", "the flow; omit it to list the flows")
    .argument("[task...]", "what to do, in plain words; omit it or use - to read standard input")
    .option("--agents <names>", "the agents to use, separated by commas", listOf)
    .option("--option <name=value>", "an option of the flow; repeatable", setting)
    .option("--example", "run the flow's example task")
    .addOption(jsonOption())
    .addOption(schemaOption())
    .option("--budget-usd <amount>", "spending limit of the flow, in US dollars", dollars)
    .addOption(repeatable("--file <path>", "a file or folder for the agents; repeatable; - is standard input"))
    .option("--context <id>", "continue this conversation")
    .action(async (name: string | undefined, task: string[], options) =>
      done(await (await flows()).flowCommand(name, task.join(" "), options, context)),
    );
  leaf("chat", "chat with an agent or a flow")
    .addOption(agentOption())
    .addOption(flowOption())
    .option("--context <id>", "continue this conversation")
    .action(async (options) => done(await (await chat()).chatCommand(options, context)));
  leaf("doctor", "check this machine and suggest fixes")
    .addOption(jsonOption())
    .action(async (options) => done(await (await doctor()).doctorCommand(options, context)));
  leaf("config", "show every setting in effect and its source")
    .addOption(jsonOption())
    .action(async (options) => done(await (await config()).configCommand(options, context)));
  addOnceCommands(program, context, done);
  addRuns(program, context, done);
  addAgents(program, context, done);
  addOperation(program, context, done, { config: configOption, json: jsonOption });
  addTools(program, context, done);
  for (const group of program.commands) refuseUnknown(group);
  pointToHelp(program, ownCommand);
  return program;
}

/** A mistake is told in a few lines: the whole help would push them off the screen. */
function pointToHelp(command: Command, path: string): void {
  command.showHelpAfterError(`\`${path} --help\` shows how to use it.`);
  for (const below of command.commands) pointToHelp(below, `${path} ${below.name()}`);
}

function addSetup(program: Command, { cwd, env, terminal }: CliContext, done: (exitCode: number) => void): void {
  program
    .command("setup")
    .description("install what is missing: packages, sandbox tools, Python, a browser")
    .option("--quiet", "print nothing if nothing is missing, and download no browser")
    // Images and services run this file directly: they have everything else.
    .action(async ({ quiet }) => {
      const { preparePython } = await import("../setup/python-packages.ts");
      const prepared = quiet ? undefined : await preparePython({ cwd, env }, terminal.say);
      if (prepared !== undefined) terminal.say(prepared);
      done(0);
    });
}

function addTools(program: Command, context: CliContext, done: (exitCode: number) => void): void {
  const shared = { config: configOption, json: jsonOption, repeatable };
  addMcp(program, context, done, shared);
  addSkills(program, context, done, shared);
  addProfiles(program, context, done, shared);
  addMemoryCommands(program, context, done, shared);
}

/** Without this, a group's default command takes a mistyped command name as its argument. */
function refuseUnknown(group: Command): void {
  for (const leaf of group.commands) {
    if (leaf.registeredArguments.length > 0) continue;
    leaf.allowExcessArguments().hook("preAction", () => {
      const [typed] = leaf.args;
      if (typed === undefined) return;
      const nearest = nearestName(
        typed,
        group.commands.map((one) => one.name()),
      );
      const meant = nearest === undefined ? "" : `\n(Did you mean ${nearest}?)`;
      group.error(`error: unknown command '${typed}'${meant}`);
    });
  }
}

/** Commands that are used once, before any work. */
function addOnceCommands(program: Command, context: CliContext, done: (exitCode: number) => void): void {
  program
    .command("init")
    .description("ask which model to use and write it to manyhands.toml")
    .addOption(configOption())
    .option(
      "--endpoint <name>",
      "the provider: openai, anthropic, gemini, bedrock, openrouter, ollama, or the URL of an endpoint",
    )
    .option("--key-env <variable>", "the environment variable that holds the key; - for none")
    .option("--model <name>", "the model's name at the provider")
    .option("-y, --yes", "accept the suggestions without asking")
    .option("--force", "replace an existing [llm]")
    .action(async (options) => done(await (await init()).initCommand(options, context)));
  program
    .command("completion")
    .description("print a completion script for your shell's start-up file")
    .addArgument(new Argument("<shell>").choices(shells))
    .action((shell: (typeof shells)[number]) => context.terminal.out(completionScript(shell, program)));
}

async function giveTask(
  task: string,
  { flow, ...options }: RunOptions & { readonly flow?: string },
  context: CliContext,
): Promise<number> {
  return flow === undefined
    ? (await running()).runOneTask(task, options, context)
    : (await flows()).flowCommand(flow, task, options, context);
}

function addRuns(program: Command, context: CliContext, done: (exitCode: number) => void): void {
  const runs = program.command("runs").description("list, show, answer, resume, cancel, export and delete runs");
  const leaf = (name: string, description: string, isDefault = false) =>
    runs
      .command(name, { isDefault })
      .description(description)
      .addOption(configOption())
      .option("--agent <name>", "only runs of this agent")
      .addOption(new Option("--flow <name>", "only runs of this flow").conflicts("agent"))
      .addOption(jsonOption());
  const id = () => new Argument("<id>", "the run's id");
  leaf("list", "list the newest runs", true)
    .option("--limit <count>", "how many to list", wholeNumber, 20)
    .addOption(new Option("--status <status>", "only runs with this status").choices(runStates))
    .action(async (options) => done(await (await runsModule()).listRuns(options, context)));
  leaf("show", "show everything that happened in a run")
    .addArgument(id())
    .action(async (run: string, options: RunsOptions) =>
      done(await (await runsModule()).showRun(run, options, context)),
    );
  leaf("watch", "follow a run until it ends")
    .addArgument(id())
    .action(async (run: string, options: RunsOptions) =>
      done(await (await runsModule()).watchRun(run, options, context)),
    );
  leaf("cancel", "end a run")
    .addArgument(id())
    .action(async (run: string, options: RunsOptions) =>
      done(await (await runsModule()).cancelRun(run, options, context)),
    );
  leaf("resume", "let a paused run try again")
    .addArgument(id())
    .action(async (run: string, options: RunsOptions) =>
      done(await (await runsModule()).resumeRun(run, options, context)),
    );
  leaf("answer", "answer a run's question")
    .addArgument(id())
    .argument("<text...>", "the answer")
    .addOption(repeatable("--file <path>", "a file or folder to attach; repeatable"))
    .action(async (run: string, text: string[], options: RunsOptions & { file?: readonly string[] }) =>
      done(await (await runsModule()).answerRun(run, text.join(" "), options, context)),
    );
  runs
    .command("export")
    .description("write a run, its events and files to a new file")
    .addOption(configOption())
    .addArgument(id())
    .argument("<file>", "the file of JSON lines; the run's files go to a folder beside it")
    .action(async (run: string, file: string, options) =>
      done(await (await exporting()).exportRun(run, file, options, context)),
    );
  runs
    .command("delete")
    .description("delete runs that have ended, with their files, for good")
    .addOption(configOption())
    .addOption(jsonOption())
    .argument("<id...>", "the runs' ids")
    .option("-y, --yes", "do not ask")
    .action(async (ids: string[], options) => done(await (await deletion()).deleteRuns(ids, options, context)));
}

function addAgents(program: Command, context: CliContext, done: (exitCode: number) => void): void {
  const agents = program.command("agents").description("list, add and remove the gateway's agents");
  const leaf = (name: string, description: string, isDefault = false) =>
    agents.command(name, { isDefault }).description(description).addOption(configOption()).addOption(jsonOption());
  leaf("list", "list the agents and their health", true).action(async (options) =>
    done(await (await agentsModule()).listAgents(options, context)),
  );
  leaf("add", "register an agent by its address")
    .argument("<url>", "URL of the agent or its card")
    .option("--name <name>", "its name here (default: from its card)")
    .option("--token <token>", "bearer token to send to it")
    .action(async (url: string, options) => done(await (await agentsModule()).addAgent(url, options, context)));
  leaf("remove", "remove a registered agent")
    .argument("<name>")
    .action(async (name: string, options) => done(await (await agentsModule()).removeAgent(name, options, context)));
}

function agentOption(): Option {
  return new Option("--agent <name>", "an agent of this system (default: the first) or a registered one");
}

function schemaOption(): Option {
  return new Option("--schema <file>", "JSON Schema for the answer");
}

function flowOption(): Option {
  return new Option("--flow <name>", "a flow, instead of an agent").conflicts("agent");
}

function jsonOption(): Option {
  return new Option("--json", "print only JSON on standard output");
}

function configOption(): Option {
  return new Option("--config <file>", "settings file (default: manyhands.toml in the working directory)");
}

/** An option's value as JSON if it parses, else as text. */
function setting(value: string, earlier: readonly (readonly [string, Json])[] = []): (readonly [string, Json])[] {
  const at = value.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("It must be NAME=VALUE, as in concurrency=2.");
  const text = value.slice(at + 1);
  try {
    return [...earlier, [value.slice(0, at), JSON.parse(text)]];
  } catch {
    return [...earlier, [value.slice(0, at), text]];
  }
}

/** An option that may be given several times. */
function repeatable(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value: string, earlier: readonly string[] = []) => [
    ...earlier,
    value,
  ]);
}
