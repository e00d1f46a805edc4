import type { AgentName } from "@manyhands/shared/config/agents";
import type { TaskOutcome } from "./conduct.ts";
import type { CliContext } from "./context.ts";

/** Whom a command spoke with, as its options named it. */
export type Spoken = {
  readonly agent?: AgentName;
  readonly flow?: string;
  readonly config?: string;
};

/** Says by which command a task that waits is answered, one that is paused resumed, or its conversation goes on: one that reaches the same agent or flow. */
export function tellWhatNext(
  { state, taskId, contextId }: TaskOutcome,
  spoken: Spoken,
  { terminal }: Pick<CliContext, "terminal">,
): void {
  const { agent, flow, config } = spoken;
  const file = config === undefined ? "" : ` --config ${quoted(config)}`;
  const named = agent === undefined || agent === "manus" ? file : ` --agent ${agent}${file}`;
  if (state === "paused")
    terminal.say(`When the cause is removed, resume it with: bun manyhands runs resume${file} ${taskId}`);
  else if (state === "input-required") {
    const whose = flow === undefined ? named : ` --flow ${flow}${file}`;
    terminal.say(`Answer it with: bun manyhands runs answer${whose} ${taskId} "…"`);
  } else if (contextId !== "") {
    const command = flow === undefined ? `run${named}` : `flow ${flow}${file}`;
    terminal.say(`Go on in this conversation with: bun manyhands ${command} --context ${contextId} "…"`);
  }
}

function quoted(path: string): string {
  return /^[\w./~:@%+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
