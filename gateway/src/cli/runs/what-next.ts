import type { Config } from "manyhands/internal/config/config";
import { firstAgent } from "manyhands/internal/config/named-agent";
import { ownCommand } from "manyhands/internal/core/release";
import { isOwnAgent } from "../../session/agent-session.ts";
import type { CliContext } from "../../session/context.ts";
import type { Partner } from "../../session/open-session.ts";
import type { TaskOutcome } from "../../terminal/render-task.ts";

/** The agent or flow a command talked to, as its options named it. */
export type Spoken = Partner & {
  readonly config?: string;
  /** Whether the servers were started for this command and end with it. */
  readonly passing?: boolean;
};

type Agents = Pick<Config, "agents">;

/** States after which the conversation can continue. */
const hadItsTurn: ReadonlySet<TaskOutcome["state"]> = new Set(["completed", "failed", "canceled"]);

/**
 * Prints the command that answers a waiting task, resumes a paused one, or continues the
 * conversation with the same agent or flow.
 */
export function tellWhatNext(
  { state, taskId, contextId }: TaskOutcome,
  spoken: Spoken,
  settings: Agents,
  { terminal }: Pick<CliContext, "terminal">,
): void {
  const place = placed(spoken, settings);
  if (state === "paused")
    terminal.say(`Once the cause is fixed, resume it with: ${ownCommand} runs resume${inFile(spoken)} ${taskId}`);
  else if (state === "input-required") {
    if (spoken.passing)
      terminal.say(`Pages and logins that it has open close now; under \`${ownCommand} start\` they stay open.`);
    terminal.say(`Answer it with: ${ownCommand} runs answer${place} ${taskId} "…"`);
  } else if (state === "submitted" || state === "working")
    terminal.say(`The run continues; follow it with: ${ownCommand} runs watch${place} ${taskId}`);
  else if (contextId !== "" && hadItsTurn.has(state) && hasConversation(spoken, settings))
    terminal.say(continueText(contextId, spoken, settings));
}

/** The command that continues a conversation. */
function continueText(contextId: string, spoken: Spoken, settings: Agents): string {
  const { byGateway: _, ...named } = spoken;
  const { flow } = named;
  const command = flow === undefined ? `run${placed(named, settings)}` : `flow ${flow}${inFile(named)}`;
  return `Continue this conversation with: ${ownCommand} ${command} --context ${contextId} "…"`;
}

/** The command that continues a chat. */
export function chatOn(contextId: string, spoken: Spoken, settings: Agents): string {
  return `Continue this conversation with: ${ownCommand} chat${placed(spoken, settings)} --context ${contextId}`;
}

/** The options that lead a command to the same agent or flow, by the same settings. */
function placed(spoken: Spoken, settings: Agents): string {
  const { agent, flow, byGateway } = spoken;
  const isDefault = agent === undefined || agent === firstAgent(settings) || byGateway === true;
  const whose = flow !== undefined ? ` --flow ${flow}` : isDefault ? "" : ` --agent ${agent}`;
  return whose + inFile(spoken);
}

function inFile({ config }: Spoken): string {
  return config === undefined ? "" : ` --config ${quoted(config)}`;
}

/**
 * A conversation through the gateway has another id at the agent itself, where `run` would look for
 * it.
 */
function hasConversation({ agent, byGateway }: Spoken, settings: Agents): boolean {
  return byGateway !== true || (agent !== undefined && !isOwnAgent(agent, settings));
}

function quoted(path: string): string {
  return /^[\w./~:@%+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
