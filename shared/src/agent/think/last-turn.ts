import type { AgentDefinition } from "../../core/agent.ts";
import type { ToolChoice } from "../../core/model.ts";
import type { AgentState } from "../task/agent-state.ts";
import type { PlannedCall } from "../task/loop.ts";

/** From this share of a task's turns on, the model is told the number of the turn. */
const noticeAt = 0.8;

/**
 * How the model may use its tools in this turn. The last turn can only end the task: by the tool
 * that does so, or by text if there is none. The tools stay the same, since they are at the front
 * of the prompt, which providers cache.
 */
export function toolChoiceNow(agent: AgentDefinition, task: Pick<AgentState, "turn" | "limits">): ToolChoice {
  if (task.turn < task.limits.steps) return agent.toolChoice;
  const name = endingTool(agent);
  return name === undefined ? "none" : { name };
}

/** The notice about the remaining turns when few are left; undefined before. */
export function turnNotice(
  agent: AgentDefinition,
  { turn, limits }: Pick<AgentState, "turn" | "limits">,
): string | undefined {
  const { steps } = limits;
  if (turn === steps) {
    const how = endingTool(agent);
    const end = how === undefined ? "Answer now, in text" : `Call ${how} now`;
    return `Turn ${turn} of ${steps}, the last one: nothing else can be done. ${end}, with what was found and done, the files that hold it, and what is missing.`;
  }
  if (turn < steps * noticeAt) return undefined;
  const left = steps - turn;
  return `Turn ${turn} of ${steps}: after this one ${left} ${left === 1 ? "is" : "are"} left, and the last can only end the task. Write what you have so far into files now, do what matters most first, and leave out what the answer can do without.`;
}

/**
 * The tool that ends a task; of several, the one added last, which takes an answer that fits the
 * task's schema.
 */
export function endingTool({ tools }: AgentDefinition): string | undefined {
  return tools.findLast((tool) => tool.endsTask === true)?.name;
}

/**
 * The calls, those denied that this turn's tool choice did not leave to the model: not every server
 * can forbid calls, or force one, and nobody would read what a call of the last turn returns.
 */
export function withinChoice(calls: readonly PlannedCall[], choice: ToolChoice): PlannedCall[] {
  if (choice === "auto" || choice === "required") return [...calls];
  const name = choice === "none" ? undefined : choice.name;
  return calls.map((call) => (call.name === name ? call : { ...call, approval: "deny", unwanted: true }));
}
