import { opened } from "./words.js";

const outcomes = {
  completed: { mark: "✓", tone: "good" },
  passed: { mark: "✓", tone: "good" },
  failed: { mark: "✗", tone: "bad" },
  not_passed: { mark: "↻", tone: "asks" },
  blocked: { mark: "!", tone: "bad" },
  canceled: { mark: "-", tone: "quiet" },
};

/** How the events of our own flows are marked where neither an outcome nor a beginning says it. */
const marks = {
  "choice-made": { mark: "●" },
  "round-begun": { mark: "●" },
  "verdict-given": { mark: "●" },
};
/** What has an outcome and is yet something said. */
const said = { "argument-made": { mark: "“" }, "debater-absent": { mark: "!", tone: "asks" } };

/**
 * What the timeline shows of what a flow tells beside the events of every run, whoever wrote the flow: its note, which has all that people want to
 * know, marked by the outcome or beginning in its data.
 *
 * @param {{ type: string, note: string, data?: { outcome?: string, begun?: boolean, text?: string } }} event
 */
export function flowEntry({ type, note, data = {} }) {
  if (type === "plan-changed") return { mark: "●", line: note, more: data.text };
  const begun = data.begun === true ? { mark: "→", tone: "call" } : undefined;
  const outcome = Object.hasOwn(outcomes, data.outcome ?? "") ? outcomes[data.outcome] : undefined;
  return { ...(said[type] ?? begun ?? outcome ?? marks[type] ?? { mark: "·", tone: "quiet" }), ...opened(note) };
}
