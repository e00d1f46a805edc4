import { type Config, firstAgent } from "manyhands/internal/config/config";
import { ownCommand } from "manyhands/internal/core/release";
import { isOwnAgent } from "../session/agent-session.ts";
import type { CliContext } from "../session/context.ts";
import type { Partner } from "../session/open-session.ts";
import type { TaskOutcome } from "../terminal/render-task.ts";

/** Whom a command spoke with, as its options named it. */
export type Spoken = Partner & {
  readonly config?: string;
  /** Whether the servers were started for the command and end with it. */
  readonly passing?: boolean;
};

type Agents = Pick<Config, "agents">;

/** States after which there is something in the conversation to go on from. */
const hadItsTurn: ReadonlySet<TaskOutcome["state"]> = new Set(["completed", "failed", "canceled"]);

/**
 * Says by which command a task that waits is answered, one that is paused resumed, or its
 * conversation goes on: one that reaches the same agent or flow.
 */
export function tellWhatNext(
  { state, taskId, contextId }: TaskOutcome,
  spoken: Spoken,
  settings: Agents,
  { terminal }: Pick<CliContext, "terminal">,
): void {
  const { flow, config } = spoken;
  const file = config === undefined ? "" : ` --config ${quoted(config)}`;
  if (state === "paused")
    terminal.say(`When the cause is removed, resume it with: ${ownCommand} runs resume${file} ${taskId}`);
  else if (state === "input-required") {
    const whose = flow === undefined ? named(spoken, settings) : ` --flow ${flow}`;
    if (spoken.passing)
      terminal.say(
        `What it has open, such as a page and its log-in, closes now; it stays open where \`${ownCommand} start\` runs.`,
      );
    terminal.say(`Answer it with: ${ownCommand} runs answer${whose}${file} ${taskId} "…"`);
  } else if (state === "submitted" || state === "working")
    terminal.say(`It goes on where it is: ${ownCommand} runs watch${named(spoken, settings)}${file} ${taskId}`);
  else if (contextId !== "" && hadItsTurn.has(state) && hasConversation(spoken, settings))
    terminal.say(goOn(contextId, spoken, settings));
}

/** How a conversation goes on from the command line. */
function goOn(contextId: string, spoken: Spoken, settings: Agents): string {
  const { flow, config } = spoken;
  const file = config === undefined ? "" : ` --config ${quoted(config)}`;
  const command = flow === undefined ? `run${named(spoken, settings)}${file}` : `flow ${flow}${file}`;
  return `Go on in this conversation with: ${ownCommand} ${command} --context ${contextId} "…"`;
}

/** How a chat goes on from the command line. */
export function chatOn(contextId: string, { agent, flow, config }: Spoken, settings: Agents): string {
  const file = config === undefined ? "" : ` --config ${quoted(config)}`;
  const whose = flow === undefined ? named({ agent }, settings) : ` --flow ${flow}`;
  return `The conversation is ${contextId}. Go on in it with: ${ownCommand} chat${whose}${file} --context ${contextId}`;
}

function named({ agent, byGateway }: Spoken, settings: Agents): string {
  return agent === undefined || agent === firstAgent(settings) || byGateway === true ? "" : ` --agent ${agent}`;
}

/**
 * A conversation by way of the gateway has another name at the agent itself, where `run` would look
 * for it.
 */
function hasConversation({ agent, byGateway }: Spoken, settings: Agents): boolean {
  return byGateway !== true || (agent !== undefined && !isOwnAgent(agent, settings));
}

function quoted(path: string): string {
  return /^[\w./~:@%+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
