import { opened } from "./words.js";

const outcomes = {
  completed: { mark: "✓", tone: "good" },
  passed: { mark: "✓", tone: "good" },
  failed: { mark: "✗", tone: "bad" },
  not_passed: { mark: "↻", tone: "asks" },
  blocked: { mark: "!", tone: "bad" },
  canceled: { mark: "-", tone: "quiet" },
};
const begun = ({ note }) => ({ mark: "→", tone: "call", ...opened(note) });
const ended = ({ note, outcome }) => ({ ...outcomes[outcome], ...opened(note) });
const quiet = ({ note }) => ({ mark: "·", tone: "quiet", ...opened(note) });
const said = ({ note }) => ({ mark: "“", ...opened(note) });
const head = ({ note }) => ({ mark: "●", ...opened(note) });

/** For each type of event that only flows tell, what the timeline shows: the event's note, which has all that people want to know. */
export const flowEntries = {
  "agent-chosen": quiet,
  "step-assigned": begun,
  "step-ended": ended,
  "plan-changed": ({ note, text }) => ({ mark: "●", line: note, more: text }),
  "branch-begun": begun,
  "branch-ended": ended,
  "policy-settled": ({ note, met }) => ended({ note, outcome: met ? "completed" : "failed" }),
  "choice-made": head,
  "iteration-begun": begun,
  "iteration-ended": ended,
  "round-begun": head,
  "argument-made": said,
  "debater-absent": ({ note }) => ({ mark: "!", tone: "asks", ...opened(note) }),
  "round-ended": quiet,
  "verdict-given": head,
};
