import { askHumanName, terminateName } from "../core/agent.ts";
import type { EventOf, ReadEvent } from "../core/events.ts";

const longest = 300;

/** Calls that steer the task itself: what they say comes as its end, or as its question. */
const controls: ReadonlySet<string> = new Set([terminateName, askHumanName]);

/** For each type of event, its line; undefined where silence is better. */
const lines: {
  readonly [Type in ReadEvent["type"]]: (event: Extract<ReadEvent, { type: Type }>) => string | undefined;
} = {
  "message-received": () => undefined,
  "message-heard": () => undefined,
  "step-started": () => undefined,
  "model-replied": ({ toolCalls, text }) => (toolCalls.length > 0 && text.trim() !== "" ? short(text) : undefined),
  "model-asked": () => undefined,
  "tool-started": ({ name, arguments: given }) => (controls.has(name) ? undefined : short(`${name} ${given}`)),
  "tool-ended": ({ name, isError, text }) => (isError ? short(`${name} failed: ${text}`) : undefined),
  "context-compacted": () => undefined,
  "agent-asked": ({ agent, text }) => short(`Asks ${agent}: ${text}`),
  "agent-accepted": () => undefined,
  "agent-progressed": ({ agent, text }) => short(`${agent}: ${text}`),
  "agent-answered": (event) => short(`${event.agent} ${answered(event)}`),
  "question-asked": ({ question }) => question,
  "notice-given": ({ text }) => short(text),
  "artifact-added": () => undefined,
  "flow-told": ({ note }) => short(note),
  "run-paused": ({ error }) => `Paused: ${error?.message ?? "it needs a person"}`,
  "run-resumed": () => undefined,
  "run-ended": ({ error }) => error?.message,
  unknown: () => undefined,
};

/**
 * One short line about an event for people and for peers, which show the status text of a working
 * task as the agent's thought; undefined where silence is better. The answer is never in here: it
 * is an artifact.
 */
export function statusText(event: ReadEvent): string | undefined {
  const line = lines[event.type] as (event: ReadEvent) => string | undefined;
  return line(event);
}

/**
 * `statusText` for whoever shows one line after the other: silence too where an event says the same
 * as the one before it, as a plan does that changes with a step.
 */
export function statusLines(): (event: ReadEvent) => string | undefined {
  let last: string | undefined;
  return (event) => {
    const text = statusText(event);
    if (text === undefined || text === last) return undefined;
    last = text;
    return text;
  };
}

function answered({ state, error }: EventOf<"agent-answered">): string {
  return error === undefined ? state : `${state}: ${error.message} (${error.code})`;
}

function short(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= longest ? line : `${line.slice(0, longest - 1)}…`;
}
