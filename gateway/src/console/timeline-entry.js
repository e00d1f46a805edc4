import { durationText, opened, shortLine, sizeText } from "./words.js";

const textOf = (parts) => parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");

const nothing = () => undefined;

/**
 * How the timeline shows each type of event: a mark, its tone, one line, and more text to open.
 * Some types are not shown.
 */
export const entries = {
  "message-received": ({ parts }) => ({ mark: "›", tone: "said", ...opened(textOf(parts)) }),
  "step-started": ({ step, maxSteps }) => ({ mark: "●", tone: "quiet", line: `Turn ${step} of at most ${maxSteps}` }),
  "model-replied": ({ text, model, milliseconds }) =>
    text.trim() === ""
      ? { mark: "·", tone: "quiet", line: `${model}, ${durationText(milliseconds)}` }
      : { mark: "“", ...opened(text) },
  "tool-started": ({ name, arguments: given }) => ({
    mark: "→",
    tone: "call",
    line: `${name} ${shortLine(given, 120)}`,
    ...(given.length > 120 && { more: given }),
  }),
  "tool-ended": ({ name, text, isError, milliseconds }) => ({
    mark: isError ? "✗" : "✓",
    tone: isError ? "bad" : "good",
    line: `${name}, ${durationText(milliseconds)}: ${shortLine(text, 100)}`,
    ...(text.length > 100 && { more: text }),
  }),
  "message-heard": nothing,
  "model-asked": nothing,
  "agent-accepted": nothing,
  "context-compacted": ({ summary }) => ({
    mark: "~",
    tone: "quiet",
    line: "Older messages were summarized",
    more: summary,
  }),
  "agent-asked": ({ agent, text, parts }) => ({
    mark: "⇢",
    tone: "call",
    line: `${agent}: ${shortLine(text)}`,
    more: textOf(parts),
  }),
  "agent-progressed": ({ agent, text }) => ({ mark: "·", tone: "quiet", line: `${agent}: ${shortLine(text)}` }),
  "agent-answered": ({ agent, state, error, files }) => ({
    mark: state === "completed" ? "✓" : "✗",
    tone: state === "completed" ? "good" : "bad",
    line: [`${agent} ${state}`, error?.message ?? "", files.map(({ name }) => name).join(", ")]
      .filter((part) => part !== "")
      .join(" · "),
  }),
  "question-asked": ({ question }) => ({ mark: "?", tone: "asks", ...opened(question) }),
  "notice-given": ({ text }) => ({ mark: "!", tone: "asks", ...opened(text) }),
  "artifact-added": ({ name, parts }) => {
    const sizes = parts.flatMap((part) => (part.type === "file" ? [sizeText(part.size)] : []));
    return { mark: "+", tone: "good", line: [name, ...sizes].join(" · ") };
  },
  "run-paused": ({ error }) => ({ mark: "!", tone: "asks", line: `Paused: ${error?.message ?? ""}` }),
  "run-resumed": () => ({ mark: "·", tone: "quiet", line: "Resumed" }),
  "run-ended": ({ status, error }) => ({
    mark: status === "completed" ? "✓" : "✗",
    tone: status === "completed" ? "good" : "bad",
    line: error === undefined ? `Run ${status}` : `Run ${status}: ${error.message}`,
  }),
};

/**
 * The timeline entry of an event; undefined for types that it does not show or this version does
 * not know. An event with a note comes from a flow.
 *
 * @param {{ type: string, note?: string, data?: object }} event @returns {{ mark: string, tone?:
 * string, line: string, more?: string } | undefined}
 */
export function timelineEntry(event) {
  if (Object.hasOwn(entries, event.type)) return entries[event.type](event);
  return typeof event.note === "string" ? flowEntry(event) : undefined;
}

const outcomes = {
  completed: { mark: "✓", tone: "good" },
  passed: { mark: "✓", tone: "good" },
  failed: { mark: "✗", tone: "bad" },
  not_passed: { mark: "↻", tone: "asks" },
  blocked: { mark: "!", tone: "bad" },
  canceled: { mark: "-", tone: "quiet" },
};

/** Marks for events of our own flows that have neither an outcome nor a start. */
const marks = {
  "choice-made": { mark: "●" },
  "round-begun": { mark: "●" },
  "verdict-given": { mark: "●" },
};
/** Events that have an outcome but are shown as statements. */
const said = { "argument-made": { mark: "“" }, "debater-absent": { mark: "!", tone: "asks" } };

/**
 * The timeline entry of an event that a flow emitted itself, whoever wrote the flow: its note,
 * marked by the outcome or the start in its data.
 *
 * @param {{ type: string, note: string, data?: { outcome?: string, begun?: boolean, text?: string }
 * }} event
 */
function flowEntry({ type, note, data = {} }) {
  if (type === "plan-changed") return { mark: "●", line: note, more: data.text };
  const begun = data.begun === true ? { mark: "→", tone: "call" } : undefined;
  const outcome = Object.hasOwn(outcomes, data.outcome ?? "") ? outcomes[data.outcome] : undefined;
  return { ...(said[type] ?? begun ?? outcome ?? marks[type] ?? { mark: "·", tone: "quiet" }), ...opened(note) };
}
