import { AppError } from "../core/errors.ts";
import type { AgentState, TaskMessage } from "./task/agent-state.ts";
import type { Turn } from "./task/loop.ts";

const comparedTurns = 10;
/**
 * How often a turn is the same before the model is told, told to change its approach, and stopped.
 */
const hintAt = 3;
const strategyAt = 4;
const stopAt = 5;
/**
 * Milliseconds after which a turn counts as waiting for something, which may well give the same
 * result for a long time.
 */
const waitingMs = 5_000;

/**
 * Detects a task that goes in circles: the same calls with the same arguments and results, or the
 * same text, again and again. Tells the model, then asks for another strategy, then ends the task
 * with `stuck`. Turns that wait do not count; the task's time limits them.
 */
export function detectLoops(step: Turn): Turn {
  return async (task) => {
    task.callsMs = 0;
    const outcome = await step(task);
    if (outcome === "done" || task.callsMs >= waitingMs) return outcome;
    const turn = fingerprint(task.messages);
    task.recentTurns = [...task.recentTurns, turn].slice(-comparedTurns);
    const times = task.recentTurns.filter((each) => each === turn).length;
    if (times >= stopAt)
      throw new AppError(
        "stuck",
        `The same turn was repeated ${times} times without progress: ${describe(task.messages)}.`,
      );
    if (times >= hintAt) warn(task, times);
    return outcome;
  };
}

function warn(task: AgentState, times: number): void {
  const what = describe(task.messages);
  task.run.emit({ type: "notice-given", kind: "stuck", text: `The same turn was repeated ${times} times: ${what}.` });
  task.hints.push(
    times < strategyAt
      ? `You did the same thing ${times} times with the same result: ${what}. Do something else.`
      : `You are going in circles: ${what}, ${times} times. Stop this approach. Name what you have tried and why it failed, then take a different way to the goal, ask for help, or call \`terminate\` with status failure. The next repetition ends the task.`,
  );
}

function lastTurn(messages: readonly TaskMessage[]): readonly TaskMessage[] {
  return messages.slice(messages.findLastIndex((message) => message.role === "assistant"));
}

/**
 * What the model was shown before the newest turn: the same call on a page that has changed is no
 * repetition.
 */
function shownBefore(messages: readonly TaskMessage[]): readonly TaskMessage[] {
  const before = messages[messages.findLastIndex((message) => message.role === "assistant") - 1];
  return before?.role === "observation" ? [before] : [];
}

function fingerprint(messages: readonly TaskMessage[]): string {
  const turn = [...shownBefore(messages), ...lastTurn(messages)].map((message) => {
    if (message.role === "assistant" && message.toolCalls.length > 0) {
      return message.toolCalls.map((call) => [call.name, call.arguments.replaceAll(/\s+/g, " ")]);
    }
    return message.role === "user" ? message.parts : withoutVolatile(message.text);
  });
  return Bun.hash(JSON.stringify(turn)).toString(36);
}

/**
 * What differs between results that mean the same: durations and times, generated ids and
 * addresses, the file with the full text.
 */
const volatile = [
  /(?<!\d)\d+(\.\d+)?\s?(ms|s)\b/g,
  /\b\d{4}-\d\d-\d\d\b/g,
  /\d{1,2}:\d\d(:\d\d)?([.,]\d+)?/g,
  /\b[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\b/gi,
  /\b0x[\da-f]+\b/gi,
  /\.manyhands\/output\/\d+/g,
];

function withoutVolatile(text: string): string {
  return volatile.reduce((rest, pattern) => rest.replaceAll(pattern, "#"), text);
}

function describe(messages: readonly TaskMessage[]): string {
  const [assistant] = lastTurn(messages);
  if (assistant?.role !== "assistant") return "no reply";
  if (assistant.toolCalls.length === 0) return `the text "${short(assistant.text)}"`;
  return assistant.toolCalls.map((call) => `${call.name}(${short(call.arguments)})`).join(", ");
}

function short(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 77)}…`;
}
