import type { Run } from "../durable/run.ts";
import { parseArguments } from "../llm/arguments.ts";
import type { ToolCall } from "../llm/model.ts";
import type { Tool } from "../tools/tool.ts";
import type { AgentDefinition } from "./agent.ts";
import { type CalledTool, callTool, type ToolDeps } from "./call-tool.ts";
import type { Act } from "./react.ts";
import type { TaskState } from "./task-state.ts";

/**
 * Acts by calling the tools asked for. Calls that do not disturb each other run at the same time, as many as the task allows; the
 * others run in the order the model wrote them. Every call gets a result, also those beyond the bound of one turn.
 */
export function callTools(agent: AgentDefinition, deps: ToolDeps): Act {
  const tools = new Map(agent.tools.map((tool) => [tool.name, tool]));
  return async (calls, task) => {
    const allowed = calls.slice(0, task.limits.callsPerTurn);
    let failed = false;
    for (const group of groups(allowed, tools)) {
      const turn = { task, tools, mayEnd: !failed };
      const called = await inLanes(group, task, (run, call) => callTool(run, call, turn, deps));
      for (const each of called) take(each, task);
      failed ||= called.some(({ isError }) => isError);
      task.spent.workMs += Math.max(0, ...called.map((each) => each.milliseconds));
    }
    for (const { id, name } of calls.slice(task.limits.callsPerTurn)) {
      const text = `Not called: one turn may make ${task.limits.callsPerTurn} calls. Make it again in a later turn if it is still needed.`;
      task.run.emit({ type: "tool-ended", callId: id, name, text, isError: true, milliseconds: 0 });
      take({ callId: id, name, text, isError: true, milliseconds: 0 }, task);
    }
  };
}

function take({ callId, name, text, isError, images, end }: CalledTool, task: TaskState): void {
  task.messages.push({ role: "tool", callId, name, text, isError, ...(images && { images }) });
  if (end !== undefined) task.outcome ??= end;
}

/** Neighbours that may run together, in the order of the calls. */
function groups(calls: readonly ToolCall[], tools: ReadonlyMap<string, Tool>): ToolCall[][] {
  const grouped: ToolCall[][] = [];
  let open = false;
  for (const call of calls) {
    const together = mayRunTogether(call, tools.get(call.name));
    const last = grouped.at(-1);
    if (together && open && last !== undefined) last.push(call);
    else grouped.push([call]);
    open = together;
  }
  return grouped;
}

function mayRunTogether(call: ToolCall, tool: Tool | undefined): boolean {
  if (tool === undefined) return true;
  if (tool.callDurably !== undefined) return false;
  if (tool.parallel !== undefined) return tool.parallel;
  const parsed = parseArguments(call.arguments);
  return parsed.ok && tool.effect(parsed.value) === "pure";
}

/**
 * Deals the calls out to as many lanes as may run at once; each lane makes its calls one after another. Which lane makes which call
 * does not depend on timing, so replay finds every call at its place.
 */
async function inLanes(
  calls: readonly ToolCall[],
  task: TaskState,
  make: (run: Run, call: ToolCall) => Promise<CalledTool>,
): Promise<CalledTool[]> {
  const [only] = calls;
  if (calls.length === 1 && only !== undefined) return [await make(task.run, only)];
  const lanes = Math.min(calls.length, task.limits.parallelCalls);
  const byLane = await task.run.all(
    Array.from({ length: lanes }, (_, lane) => async (run: Run) => {
      const called: { at: number; result: CalledTool }[] = [];
      for (const [at, call] of calls.entries()) {
        if (at % lanes === lane) called.push({ at, result: await make(run, call) });
      }
      return called;
    }),
  );
  return byLane
    .flat()
    .sort((one, other) => one.at - other.at)
    .map(({ result }) => result);
}
