import { askHumanName, terminateName } from "../core/agent.ts";
import type { EventOf, ReadEvent } from "../core/events/events.ts";
import { objectOf } from "../core/json.ts";
import { counted } from "../core/text/counted.ts";

const longest = 300;

/** Calls that control the task itself: their text appears as its end or its question. */
const controls: ReadonlySet<string> = new Set([terminateName, askHumanName]);

/** The status line for each event type; undefined for none. */
const lines: {
  readonly [Type in ReadEvent["type"]]: (event: Extract<ReadEvent, { type: Type }>) => string | undefined;
} = {
  "message-received": () => undefined,
  "message-heard": () => undefined,
  "step-started": () => undefined,
  "model-replied": ({ toolCalls, text }) => (toolCalls.length > 0 && text.trim() !== "" ? short(text) : undefined),
  "model-asked": () => undefined,
  "tool-started": ({ name, arguments: given }) => (controls.has(name) ? undefined : short(callText(name, given))),
  "tool-ended": ({ name, isError, text }) => (isError ? short(`${name} failed: ${text}`) : undefined),
  "context-compacted": () => undefined,
  "memory-recalled": ({ entries }) =>
    entries.length === 0 ? undefined : `Recalled from your memory: ${counted(entries.length, "entry", "entries")}`,
  "agent-asked": ({ agent, text }) => short(`Asks ${agent}: ${text}`),
  "agent-accepted": () => undefined,
  "agent-progressed": ({ agent, text }) => short(`${agent}: ${text}`),
  "agent-used": () => undefined,
  "agent-answered": (event) => short(`${event.agent} ${answered(event)}`),
  "question-asked": ({ question }) => question,
  "notice-given": ({ text }) => short(text),
  "artifact-added": () => undefined,
  "flow-told": ({ note }) => short(note),
  "run-paused": ({ error }) => `Paused: ${error?.message ?? "it needs a person's attention"}`,
  "run-resumed": () => undefined,
  "run-ended": ({ error }) => error?.message,
  unknown: () => undefined,
};

/**
 * One short line about an event, for people and for peers, which show the status text of a working
 * task as the agent's thought; undefined for none. Never contains the answer, which is an artifact.
 */
export function statusText(event: ReadEvent): string | undefined {
  const line = lines[event.type] as (event: ReadEvent) => string | undefined;
  return line(event);
}

/**
 * `statusText` for views that show one line after another: also undefined if the line repeats the
 * previous one, as that of a plan does when only one of its items changes.
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

/** Characters of one of several arguments. */
const longestValue = 80;

/** A call as people read it: a single argument alone, several by name, long ones cut. */
function callText(name: string, given: string): string {
  const entries = Object.entries(objectOf(given) ?? { "": given });
  const inText = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  const [only] = entries;
  if (only === undefined) return name;
  if (entries.length === 1) return `${name}: ${inText(only[1])}`;
  return `${name}: ${entries.map(([key, value]) => `${key}=${short(inText(value), longestValue)}`).join(" ")}`;
}

function answered({ state, error }: EventOf<"agent-answered">): string {
  return error === undefined ? state : `${state}: ${error.message}`;
}

function short(text: string, most = longest): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}
