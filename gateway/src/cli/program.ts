import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { nearestName } from "manyhands/internal/config/nearest";
import type { Json } from "manyhands/internal/core/json";
import { version } from "manyhands/internal/core/release";
import { demoCommand } from "../demo/demo.ts";
import { doctorCommand } from "../doctor/doctor.ts";
import type { CliContext } from "../session/context.ts";
import { addAgent, listAgents, removeAgent } from "./agents.ts";
import { chatCommand } from "./chat.ts";
import { completionScript, shells } from "./completion.ts";
import { configCommand } from "./config-command.ts";
import { flowCommand } from "./flow.ts";
import { initCommand } from "./init.ts";
import { addMcp } from "./mcp/add-mcp.ts";
import { type RunOptions, runCommand } from "./run.ts";
import { answerRun, cancelRun, listRuns, type RunsOptions, resumeRun, showRun, watchRun } from "./runs.ts";
import { startCommand } from "./start-command.ts";

/** The command line. `done` is told the exit code of the command that ran. */
export function manyhandsProgram(context: CliContext, done: (exitCode: number) => void): Command {
  const program = new Command("manyhands")
    .description("Agents that work on your tasks, durably, and speak A2A.")
    .version(version, "-V, --version", "show the version")
    .showHelpAfterError(true)
    .configureOutput({ writeOut: context.terminal.out, writeErr: (text) => context.terminal.say(text.trimEnd()) })
    .exitOverride();
  const leaf = (name: string, description: string) =>
    program.command(name).description(description).addOption(configOption());

  program
    .command("setup")
    .description("install what the machine lacks: packages, sandbox tools, Python, a browser")
    .option("--quiet", "say nothing where all is there, and download no browser");
  leaf("start", "start the agents and keep them up until Ctrl-C").action(async (options) =>
    done(await startCommand(options, context)),
  );
  leaf("demo", "run the demo task and check its result").action(async (options) =>
    done(await demoCommand(options, context)),
  );
  leaf("run", "give an agent, or a flow, one task")
    .argument("[task...]", "what to do, in plain words; - or nothing reads it from standard input")
    .addOption(agentOption())
    .addOption(flowOption())
    .addOption(jsonOption())
    .addOption(schemaOption())
    .option("--budget-usd <amount>", "end the task before it costs more", dollars)
    .option("--file <path>", "a file for the agent; may be given several times; - is standard input", collect)
    .option("--context <id>", "go on in this conversation")
    .action(async (task: string[], options) => done(await giveTask(task.join(" "), options, context)));
  leaf("flow", "list the flows, or give one a task that several agents work on")
    .argument("[name]", "which flow; without one they are listed")
    .argument("[task...]", "what to do, in plain words; - or nothing reads it from standard input")
    .option("--agents <names>", "the agents to use, with commas between them", list)
    .option("--option <name=value>", "a setting of the flow; may be given several times", setting)
    .option("--example", "a task that shows what the flow is for")
    .addOption(jsonOption())
    .addOption(schemaOption())
    .option("--budget-usd <amount>", "end the flow before it costs more", dollars)
    .option("--file <path>", "a file for the agents; may be given several times; - is standard input", collect)
    .option("--context <id>", "go on in this conversation")
    .action(async (name: string | undefined, task: string[], options) =>
      done(await flowCommand(name, task.join(" "), options, context)),
    );
  leaf("chat", "talk with an agent, or a flow")
    .addOption(agentOption())
    .addOption(flowOption())
    .option("--context <id>", "go on in this conversation")
    .action(async (options) => done(await chatCommand(options, context)));
  leaf("doctor", "check this machine and say what to do")
    .addOption(jsonOption())
    .action(async (options) => done(await doctorCommand(options, context)));
  leaf("config", "show every setting in effect and where it comes from")
    .addOption(jsonOption())
    .action(async (options) => done(await configCommand(options, context)));
  addBeginnings(program, context, done);
  addRuns(program, context, done);
  addAgents(program, context, done);
  addMcp(program, context, done, { config: configOption, json: jsonOption });
  for (const group of program.commands) refuseUnknown(group);
  return program;
}

/** A group that does something without a word would take a mistyped one for an argument of that. */
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

/** What is done once, before work begins. */
function addBeginnings(program: Command, context: CliContext, done: (exitCode: number) => void): void {
  program
    .command("init")
    .description("ask for the model and write it to manyhands.toml")
    .addOption(configOption())
    .option(
      "--endpoint <name>",
      "whose model: openai, anthropic, gemini, openrouter, ollama, or the URL of an endpoint",
    )
    .option("--key-env <variable>", "the variable of the environment that holds the key; - for none")
    .option("--model <name>", "the model's name there")
    .option("-y, --yes", "take what is suggested where nothing is said")
    .option("--force", "replace the [llm] of a file that has one")
    .action(async (options) => done(await initCommand(options, context)));
  program
    .command("completion")
    .description("print a script that completes commands in your shell, for its start-up file")
    .addArgument(new Argument("<shell>").choices(shells))
    .action((shell: (typeof shells)[number]) => context.terminal.out(completionScript(shell, program)));
}

async function giveTask(
  task: string,
  { flow, ...options }: RunOptions & { readonly flow?: string },
  context: CliContext,
): Promise<number> {
  return flow === undefined ? runCommand(task, options, context) : flowCommand(flow, task, options, context);
}

function addRuns(program: Command, context: CliContext, done: (exitCode: number) => void): void {
  const runs = program.command("runs").description("look at runs, answer, resume and cancel them");
  const leaf = (name: string, description: string, isDefault = false) =>
    runs
      .command(name, { isDefault })
      .description(description)
      .addOption(configOption())
      .option("--agent <name>", "an agent's runs only")
      .addOption(new Option("--flow <name>", "a flow's runs only").conflicts("agent"))
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
    .option("--file <path>", "a file to go with it; may be given several times", collect)
    .action(async (run: string, text: string[], options: RunsOptions & { file?: readonly string[] }) =>
      done(await answerRun(run, text.join(" "), options, context)),
    );
}

function addAgents(program: Command, context: CliContext, done: (exitCode: number) => void): void {
  const agents = program.command("agents").description("the agents of the gateway: list, add and remove them");
  const leaf = (name: string, description: string, isDefault = false) =>
    agents.command(name, { isDefault }).description(description).addOption(configOption()).addOption(jsonOption());
  leaf("list", "the agents and how they are", true).action(async (options) => done(await listAgents(options, context)));
  leaf("add", "register an agent by its address")
    .argument("<url>", "where the agent or its card is")
    .option("--name <name>", "what to call it; made from its card when left out")
    .option("--token <token>", "what it wants to be sent as bearer token")
    .action(async (url: string, options) => done(await addAgent(url, options, context)));
  leaf("remove", "forget a registered agent")
    .argument("<name>")
    .action(async (name: string, options) => done(await removeAgent(name, options, context)));
}

function agentOption(): Option {
  return new Option(
    "--agent <name>",
    "which agent: one of this system (the first when left out), or one that was added",
  );
}

function schemaOption(): Option {
  return new Option("--schema <file>", "a JSON Schema that the answer has to fit");
}

function flowOption(): Option {
  return new Option("--flow <name>", "which flow, in place of an agent").conflicts("agent");
}

function jsonOption(): Option {
  return new Option("--json", "JSON on standard output and nothing else");
}

function configOption(): Option {
  return new Option("--config <file>", "settings file (default: manyhands.toml in the working directory)");
}

function list(value: string): string[] {
  return value
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

/** A setting as JSON where it is that, else as text. */
function setting(value: string, earlier: readonly (readonly [string, Json])[] = []): (readonly [string, Json])[] {
  const at = value.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("It must be a name and a value, as in concurrency=2.");
  const text = value.slice(at + 1);
  try {
    return [...earlier, [value.slice(0, at), JSON.parse(text)]];
  } catch {
    return [...earlier, [value.slice(0, at), text]];
  }
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
