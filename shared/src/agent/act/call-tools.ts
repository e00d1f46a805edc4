import type { AgentDefinition } from "../../core/agent.ts";
import { textOf } from "../../core/message.ts";
import type { Run } from "../../core/runs/run.ts";
import { askPerson } from "../../core/tools/question.ts";
import { spend } from "../model-call/spending.ts";
import { addMessage } from "../task/add-message.ts";
import type { AgentState } from "../task/agent-state.ts";
import type { Act, PlannedCall } from "../task/loop.ts";
import { collectMessages } from "../task/receive.ts";
import { recordedSources } from "../task/recorded-sources.ts";
import { callTool, type FailedAct, type ToolDeps, type TurnOfCalls } from "./call-tool.ts";
import { type CalledTool, refuse } from "./called-tool.ts";
import { readCall } from "./plan-call.ts";
import { nothingYet, toolsNow } from "./tools-now.ts";

/**
 * Acts by calling the requested tools. Calls that do not disturb each other run at the same time,
 * as many as the task allows; the others run in the order the model wrote them. Every call gets a
 * result.
 */
export function callTools(agent: AgentDefinition, deps: ToolDeps): Act {
  const tools = new Map(agent.tools.map((tool) => [tool.name, tool]));
  return async (calls, task) => {
    const { moreTools } = agent;
    const { principal } = task.run;
    const more: TurnOfCalls["more"] = async (within) => (await toolsNow(agent, principal, nothingYet, within)).callable;
    const failed = new Map<string, FailedAct>();
    for (const group of groups(calls)) {
      const pending = { tokens: 0, usd: 0 };
      const turn: TurnOfCalls = { task, tools, pending, calls: calls.length, failed, ...(moreTools && { more }) };
      const called = await inLanes(group, task, (run, call) => callTool(run, call, turn, deps));
      countTime(task, Math.max(0, ...called.map((each) => each.milliseconds)));
      for (const [at, each] of called.entries()) {
        const result = await answered(group[at], each, turn, deps);
        takeResult(result, task);
        const tool = result.isError ? tools.get(result.name) : undefined;
        if (tool?.actsOn === undefined) continue;
        const { name, setsPart } = failed.get(tool.actsOn) ?? { name: result.name, setsPart: true };
        const input = group[at] && readCall(group[at]).input;
        const isPart = input?.ok === true && tool.setsPart?.(input.value) === true;
        failed.set(tool.actsOn, { name, setsPart: setsPart && isPart });
      }
    }
  };
}

const answerMs = 24 * 60 * 60 * 1000;

/**
 * Repeats a call with the person's answer until it has no more questions. Questions of other calls
 * wait.
 */
async function answered(
  call: PlannedCall | undefined,
  called: CalledTool,
  turn: TurnOfCalls,
  deps: ToolDeps,
): Promise<CalledTool> {
  const { task } = turn;
  let now = called;
  while (call !== undefined && now.asks !== undefined) {
    const { question, state } = now.asks;
    await collectMessages(task);
    const message = await askPerson(task.run, { question, kind: "question" }, answerMs);
    const text = message && textOf(message.parts);
    for (const usage of now.usage ?? []) spend(task, { usage, milliseconds: 0 });
    now = await callTool(task.run, call, turn, deps, { text, state });
    countTime(task, now.milliseconds);
  }
  return now;
}

function countTime(task: AgentState, milliseconds: number): void {
  task.callsMs += milliseconds;
  task.spent.workMs += milliseconds;
}

function takeResult(called: CalledTool, task: AgentState): void {
  const { callId, name, text, isError, images, shows, end, usage = [] } = called;
  for (const source of recordedSources(called)) task.takenIn.add(source);
  // Its time is within the call's.
  for (const each of usage) spend(task, { usage: each, milliseconds: 0 });
  addMessage(task, { role: "tool", callId, name, text, isError, ...(images && { images }), ...(shows && { shows }) });
  if (end !== undefined) task.outcome ??= end;
}

/** Groups neighbouring calls that may run together, in the order of the calls. */
function groups(calls: readonly PlannedCall[]): PlannedCall[][] {
  const grouped: PlannedCall[][] = [];
  for (const call of calls) {
    const last = grouped.at(-1);
    if (runsBeside(call) && last?.[0] !== undefined && runsBeside(last[0])) last.push(call);
    else grouped.push([call]);
  }
  return grouped;
}

function runsBeside({ way }: PlannedCall): boolean {
  return way === "together" || way === "waiting-together";
}

/**
 * Distributes the calls over as many lanes as may run at once; each lane makes its calls one after
 * another. The distribution does not depend on timing, so replay finds every call in its place.
 */
async function inLanes(
  calls: readonly PlannedCall[],
  task: AgentState,
  make: (run: Run, call: PlannedCall) => Promise<CalledTool>,
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

/**
 * Makes only as many calls of one turn as the task allows. The others get a result that says so.
 */
export function limitCalls(act: Act): Act {
  return async (calls, task) => {
    const { callsPerTurn } = task.limits;
    await act(calls.slice(0, callsPerTurn), task);
    const text = `Not called: one turn may make ${callsPerTurn} calls. Repeat it in a later turn if it is still needed.`;
    for (const [at, call] of calls.slice(callsPerTurn).entries())
      refuse(call, at === 0 ? text : "Not called, as the one before.", task);
  };
}
