import { askHumanName, terminateName } from "../core/control-calls.ts";
import type { RunEnded } from "../core/engine.ts";
import type { AgentEvent } from "../core/events/agent-events.ts";
import type { RunEvent } from "../core/run.ts";

const longest = 300;

/** Calls that steer the task itself: what they say comes as its end, or as its question. */
const controls: ReadonlySet<string> = new Set([terminateName, askHumanName]);

/**
 * One short line about an event for people and for peers, which show the status text of a working task as the agent's
 * thought; undefined where silence is better. The answer is never in here: it is an artifact.
 */
export function statusText(stored: RunEvent): string | undefined {
  const event = stored as unknown as AgentEvent | RunEnded | EngineEvent;
  switch (event.type) {
    case "model-replied":
      return event.toolCalls.length > 0 && event.text.trim() !== "" ? short(event.text) : undefined;
    case "tool-started":
      return controls.has(event.name) ? undefined : short(`${event.name} ${event.arguments}`);
    case "tool-ended":
      return event.isError ? short(`${event.name} failed: ${event.text}`) : undefined;
    case "notice-given":
      return short(event.text);
    case "agent-asked":
      return short(`Asks ${event.agent}: ${event.text}`);
    case "agent-progressed":
      return short(`${event.agent}: ${event.text}`);
    case "agent-answered":
      return short(`${event.agent} ${answered(event)}`);
    case "agent-chosen":
    case "step-assigned":
    case "step-ended":
    case "plan-changed":
    case "branch-begun":
    case "branch-ended":
    case "policy-settled":
    case "choice-made":
    case "iteration-begun":
    case "iteration-ended":
    case "round-begun":
    case "argument-made":
    case "debater-absent":
    case "round-ended":
    case "verdict-given":
      return short(event.note);
    case "question-asked":
      return event.question;
    case "run-paused":
      return `Paused: ${event.error?.message ?? "it needs a person"}`;
    case "run-ended":
      return endText(event);
    default:
      return undefined;
  }
}

/**
 * `statusText` for whoever shows one line after the other: silence too where an event says the same as the one before it, as a plan does that
 * changes with a step.
 */
export function statusLines(): (event: RunEvent) => string | undefined {
  let last: string | undefined;
  return (event) => {
    const text = statusText(event);
    if (text === undefined || text === last) return undefined;
    last = text;
    return text;
  };
}

/** The engine's own event when a run stops with a cause that a person has to remove. */
type EngineEvent = { readonly type: "run-paused"; readonly error?: { readonly message: string } };

function answered({ state, error }: Extract<AgentEvent, { type: "agent-answered" }>): string {
  return error === undefined ? state : `${state}: ${error.message} (${error.code})`;
}

function endText(end: RunEnded): string | undefined {
  if (end.error === undefined) return undefined;
  const { message, code } = end.error;
  // A flow that failed because its agent did tells the agent's words, which end so already.
  return message.endsWith(`(${code})`) ? message : `${message} (${code})`;
}

function short(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= longest ? line : `${line.slice(0, longest - 1)}…`;
}
