import type { Config } from "manyhands/internal/config/config";
import { AppError } from "manyhands/internal/core/errors";
import type { FlowDefinition } from "manyhands/internal/core/flow";
import type { Json } from "manyhands/internal/core/json";
import { ownCommand } from "manyhands/internal/core/release";
import { mediaTypeOf } from "manyhands/internal/machine/workspace/media-type";
import { exampleHere } from "../../flows/example-here.ts";
import { flowNamed, loadFlows } from "../../flows/load-flows.ts";
import type { CliContext } from "../../session/context.ts";
import { openFlow } from "../../session/open-session.ts";
import type { OutgoingFile, OutgoingMessage } from "../../tasks/agent-client.ts";
import { exitCodes } from "../../terminal/exit-code.ts";
import { readSchema, readTask } from "./read-task.ts";
import { runTask } from "./run.ts";

/** The options of `flow`, as the command line gives them. */
type FlowOptions = {
  readonly agents?: readonly string[];
  readonly option?: readonly (readonly [string, Json])[];
  readonly example?: boolean;
  readonly file?: readonly string[];
  readonly schema?: string;
  readonly budgetUsd?: number;
  readonly context?: string;
  readonly json?: boolean;
  readonly config?: string;
};

/**
 * Lists the flows, or gives one a task and shows it to its end as `run` does; `--example` gives it
 * its own example task.
 */
export async function flowCommand(
  name: string | undefined,
  task: string,
  options: FlowOptions,
  context: CliContext,
): Promise<number> {
  const { terminal } = context;
  const config = await context.configure(options.config);
  const flows = await loadFlows(config);
  if (name === undefined) return listFlows(flows, options, context);
  const flow = flowNamed(flows, name);
  for (const note of config.notes) terminal.say(note);
  const message = options.example ? exampleOf(flow, options, config) : await messageOf(task, options, context);
  if (options.example) terminal.out(`Task: ${message.text}\n\n`);
  const session = await openFlow(name, config, context, message.flow?.agents);
  try {
    return await runTask(
      session.client,
      message,
      { ...options, flow: name, passing: session.passing },
      config,
      context,
    );
  } catch (error) {
    throw inOptions(error);
  } finally {
    await session.close();
  }
}

/** A refusal that names parts of a request, with the options that set them. */
function inOptions(error: unknown): unknown {
  if (!(error instanceof AppError) || !/^(agents|options)\b/.test(error.message)) return error;
  const how = `On the command line: ${ownCommand} flow NAME --agents A,B --option NAME=VALUE.`;
  return new AppError(error.code, `${error.message} ${how}`, { cause: error });
}

function listFlows(flows: readonly FlowDefinition[], { json }: FlowOptions, { terminal }: CliContext): number {
  const listed = flows.map(({ name, title, description }) => ({ name, title, description }));
  if (json) terminal.out(`${JSON.stringify(listed, undefined, 2)}\n`);
  else for (const flow of listed) terminal.out(`${flow.name.padEnd(14)}${flow.description}\n`);
  return exitCodes.ok;
}

async function messageOf(task: string, options: FlowOptions, context: CliContext): Promise<OutgoingMessage> {
  const { agents, option = [], context: contextId, budgetUsd } = options;
  const given = await readTask(task, options.file ?? [], context);
  const outputSchema = await readSchema(options.schema, context.cwd);
  return { ...given, contextId, budgetUsd, outputSchema, ...settingsOf(agents, Object.fromEntries(option)) };
}

/** The flow's example, with overrides from the command line. */
function exampleOf(flow: FlowDefinition, given: FlowOptions, settings: Pick<Config, "agents">): OutgoingMessage {
  const example = exampleHere(flow, Object.keys(settings.agents));
  const { text, files = [] } = example;
  const agents = given.agents ?? example.agents;
  const options = { ...example.options, ...Object.fromEntries(given.option ?? []) };
  const encoder = new TextEncoder();
  return {
    text,
    contextId: given.context,
    budgetUsd: given.budgetUsd,
    files: files.map(
      (file): OutgoingFile => ({
        name: file.name,
        mediaType: mediaTypeOf(file.name),
        bytes: encoder.encode(file.text),
      }),
    ),
    ...settingsOf(agents, options),
  };
}

/** What a message says of its flow: nothing where nothing is set. */
function settingsOf(
  agents: readonly string[] | undefined,
  options: { readonly [name: string]: Json },
): Pick<OutgoingMessage, "flow"> {
  const flow = { ...(agents && { agents }), ...(Object.keys(options).length > 0 && { options }) };
  return Object.keys(flow).length > 0 ? { flow } : {};
}
