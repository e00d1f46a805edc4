import type { EventOf, ReadEvent } from "manyhands/internal/core/events/events";
import type { Progress, ToolOutput } from "manyhands/internal/core/events/progress";
import { textOf } from "manyhands/internal/core/message";
import { counted } from "manyhands/internal/core/text/counted";
import type { TaskItem } from "../tasks/task-item.ts";
import { argumentsText, callText } from "./arguments-text.ts";
import { flowLines, planLines } from "./flow-lines.ts";
import { addOutput, endOutput, markedLines, noOutput } from "./live-output.ts";
import { safeLine, safeText } from "./safe-text.ts";
import { paint, type Style } from "./style.ts";
import { indented, lines, type Rendered, stream, type TerminalView } from "./terminal-view.ts";
import { addCall, addOthers, durationText, sizeText, soFarText, totalsText, usageText } from "./totals.ts";

/** Events about other agents. */
type PeerEvent = EventOf<"agent-asked" | "agent-accepted" | "agent-progressed" | "agent-used" | "agent-answered">;

/** Marks for another agent's answer; every other state is a failure. */
const answerMarks = { completed: ["green", "✓"], canceled: ["dim", "-"] } as const;

/**
 * Renders one item. Control characters in text from a model, a tool or a peer are escaped.
 */
export function render(view: TerminalView, item: TaskItem, style: Style): Rendered {
  if (item.kind === "progress") return renderProgress(view, item.event, style);
  if (item.kind === "state") {
    const endedAt = view.endedAt === undefined ? undefined : Math.max(view.endedAt, item.at ?? 0);
    return renderState({ ...view, endedAt }, item, style);
  }
  const timed = { ...view, startedAt: view.startedAt ?? item.at, endedAt: item.at };
  return renderEvent(timed, item.event, style);
}

/** The closing line: time, tokens and cost; unknown cost is shown as unknown. */
export function summaryText({ totals, startedAt, endedAt }: TerminalView): string {
  const time = startedAt === undefined || endedAt === undefined ? "" : `${durationText(endedAt - startedAt)} · `;
  return time + totalsText(totals);
}

/**
 * The status text and questions of an agent without a journal. The caller shows how the task ends.
 */
function renderState(
  view: TerminalView,
  { state, text }: Extract<TaskItem, { kind: "state" }>,
  style: Style,
): Rendered {
  if (text === undefined) return { view, text: "" };
  if (state === "working") return lines(view, [`  ${paint(style, "dim", `· ${safeLine(text, style.columns - 4)}`)}`]);
  const isAsking = state === "input-required" || state === "auth-required";
  return isAsking && text !== view.question ? renderQuestion(view, text, style) : { view, text: "" };
}

function renderQuestion(view: TerminalView, question: string, style: Style): Rendered {
  return lines({ ...view, question }, [paint(style, "bold", `? ${safeText(question)}`)]);
}

function renderProgress(view: TerminalView, event: Progress, style: Style): Rendered {
  switch (event.type) {
    case "text-delta":
      return stream({ ...view, streamed: true }, "text", event.text, (line) => `  ${line}`);
    case "reasoning-delta":
      return stream(view, "reasoning", event.text, (line) => `  ${paint(style, "dim", line)}`);
    case "deltas-void":
      return lines({ ...view, streamed: false }, [
        `  ${paint(style, "yellow", `(retrying: ${safeLine(event.cause, style.columns - 30)})`)}`,
      ]);
    case "notice-given":
      return lines(view, [noticeLine(event.text, style)]);
    // The whole call is shown when it starts.
    case "tool-call-delta":
      return { view, text: "" };
    case "tool-output":
      return renderOutput(view, addOutput(view.output, { text: event.text, callId: callKey(event) }, style));
    case "agent-output":
      return lines(view, markedLines(event.text.split("\n"), `${safeLine(event.agent, 30)} │`, style));
  }
}

/** Tells calls apart whose agents name them alike. */
function callKey({ askId, below = [], callId }: ToolOutput): string {
  return askId === undefined ? callId : [askId, ...below, callId].join(" ");
}

function renderEvent(view: TerminalView, event: ReadEvent, style: Style): Rendered {
  const { columns } = style;
  switch (event.type) {
    case "message-received":
    case "message-heard":
    case "run-paused":
    case "run-resumed":
    case "run-ended":
    case "unknown":
      return lines(view, []);
    case "step-started":
      return lines({ ...view, streamed: false }, [
        paint(style, "bold", `● Turn ${event.step}`) +
          paint(style, "dim", soFar(view, ` of at most ${event.maxSteps}`)),
      ]);
    case "model-replied":
      return renderReply(view, event, style);
    case "model-asked":
      return lines({ ...view, totals: addCall(view.totals, event) }, []);
    case "tool-started": {
      const shown = argumentsText(event.arguments, columns - event.name.length - 6);
      const head = `  ${paint(style, "cyan", `→ ${safeLine(event.name, 60)}`)} ${shown}`;
      const allowed = event.forTask === undefined ? [] : [noticeLine(`allowed for this task: ${event.forTask}`, style)];
      return lines({ ...view, running: view.running + 1, output: noOutput }, [head, ...allowed]);
    }
    case "tool-ended":
      return renderResult(view, event, style);
    case "context-compacted":
      return lines({ ...view, totals: addCall(view.totals, event) }, [
        `  ${paint(style, "dim", "~ older messages were summarized")}`,
      ]);
    case "memory-recalled":
      return renderRecall(view, event, style);
    case "agent-asked":
    case "agent-accepted":
    case "agent-progressed":
    case "agent-used":
    case "agent-answered":
      return renderPeer(view, event, style);
    case "flow-told": {
      const told = flowLines(view.flow, event, style);
      return lines({ ...view, flow: told.view }, told.lines);
    }
    case "question-asked":
      return renderQuestion(view, event.question, style);
    case "notice-given":
      return lines(view, [noticeLine(event.text, style)]);
    case "artifact-added":
      return renderArtifact(view, event, style);
  }
}

function renderRecall(view: TerminalView, event: EventOf<"memory-recalled">, style: Style): Rendered {
  const shown = event.entries.map(({ id, text }) =>
    paint(style, "dim", `  ~ from your memory [${safeLine(id, 20)}]: ${safeLine(text, style.columns - 36)}`),
  );
  return lines({ ...view, totals: addCall(view.totals, event) }, shown);
}

function noticeLine(text: string, style: Style): string {
  return `  ${paint(style, "yellow", `! ${safeLine(text, style.columns - 4)}`)}`;
}

/** Appends what the task has used so far to a line. */
function soFar({ totals }: TerminalView, text: string): string {
  const used = soFarText(totals);
  return used === "" ? text : `${text} · ${used}`;
}

function renderReply(view: TerminalView, event: EventOf<"model-replied">, style: Style): Rendered {
  const { usage } = event;
  const text = view.streamed || event.text.trim() === "" ? [] : indented(event.text);
  const tokens = `${usage.inputTokens} in, ${usage.outputTokens} out`;
  const facts = `  · ${safeLine(event.model, 40)} · ${tokens} · ${durationText(event.milliseconds)}`;
  const next = { ...view, streamed: false, lastText: event.text, totals: addCall(view.totals, event) };
  return lines(next, [...text, paint(style, "dim", facts)]);
}

function renderResult(before: TerminalView, event: EventOf<"tool-ended">, style: Style): Rendered {
  const { output, shown: rest } = endOutput(before.output, style);
  // What was shown of this call says nothing of those that still run.
  const view = { ...before, output: noOutput, running: Math.max(0, before.running - 1) };
  const plan = event.name === "planning" && !event.isError ? planLines(event.text, style) : [];
  if (plan.length > 0) return lines(view, [...rest, ...plan]);
  // Output that was shown live is not shown again.
  const isShown = output.lines > 0 && before.running === 1 && !event.isError;
  const shown = isShown ? [] : event.text.split("\n").filter((line) => line.trim() !== "");
  const mark = event.isError ? paint(style, "red", "✗") : paint(style, "green", "✓");
  const name = before.running > 1 ? `${safeLine(event.name, 40)} ` : "";
  const room = style.columns - 16 - name.length;
  const first = `    ${mark} ${name}${paint(style, "dim", durationText(event.milliseconds))}  ${safeLine(shown[0] ?? "", room)}`;
  const more = shown.length > 2 ? ` (+${counted(shown.length - 2, "line")})` : "";
  const second =
    shown[1] === undefined ? [] : [`      ${safeLine(shown[1], style.columns - 24)}${paint(style, "dim", more)}`];
  return lines(view, [...rest, first, ...second]);
}

function renderArtifact(view: TerminalView, event: EventOf<"artifact-added">, style: Style): Rendered {
  if (event.name === "answer") {
    const answer = textOf(event.parts);
    if (answer.trim() === "" || answer.trim() === view.lastText.trim()) return lines(view, []);
    return lines(view, ["", ...indented(answer)]);
  }
  const sizes = event.parts.flatMap((part) => (part.type === "file" ? [sizeText(part.size)] : []));
  // A text that changes (a plan, a transcript) is shown once; other events report the changes.
  if (sizes.length === 0 && view.texts.includes(event.artifactId)) return lines(view, []);
  return lines({ ...view, texts: [...view.texts, event.artifactId] }, [
    `  ${paint(style, "green", "+")} ${safeLine(event.name, 80)}  ${paint(style, "dim", sizes.join(", "))}`,
  ]);
}

function renderOutput(view: TerminalView, { output, shown }: ReturnType<typeof addOutput>): Rendered {
  return shown.length === 0 ? { view: { ...view, output }, text: "" } : lines({ ...view, output }, shown);
}

/**
 * What another agent was asked, its progress, and how it ended. Its answer is in the result of the
 * call that asked.
 */
function renderPeer(view: TerminalView, event: PeerEvent, style: Style): Rendered {
  const agent = safeLine(event.agent, 30);
  const room = style.columns - agent.length - 8;
  switch (event.type) {
    case "agent-asked": {
      // The line of the plan item already says so.
      const at = view.flow.assigned.indexOf(event.agent);
      if (at !== -1)
        return lines({ ...view, flow: { ...view.flow, assigned: view.flow.assigned.toSpliced(at, 1) } }, []);
      return lines(view, [`  ${paint(style, "cyan", `⇢ ${agent}`)} ${safeLine(event.text, room)}`]);
    }
    case "agent-accepted":
      return lines(view, []);
    case "agent-progressed": {
      const isBound = event.notice === "budget";
      const totals = addOthers(view.totals, event);
      // Its next call prints anew.
      const { output, shown } =
        event.call === undefined ? { output: view.output, shown: [] } : endedOutput(view, style);
      const next = { ...view, output, boundTold: view.boundTold || isBound, totals };
      // Its answer says how it ended.
      if (event.call === "terminate" || (isBound && view.boundTold)) return lines(next, shown);
      return lines(next, [...shown, `    ${paint(style, "dim", `${agent} · ${callText(event.text, room)}`)}`]);
    }
    case "agent-used":
      return lines({ ...view, totals: addOthers(view.totals, event) }, []);
    case "agent-answered": {
      const [colour, sign] = answerMarks[event.state as keyof typeof answerMarks] ?? (["red", "✗"] as const);
      const mark = paint(style, colour, sign);
      const files = event.files.map(({ name }) => safeLine(name, 40)).join(", ");
      const used = event.usage === undefined ? "" : usageText(event.usage);
      const facts = [event.state, event.error?.message ?? "", files, used].filter(Boolean).join(" · ");
      const totals = addOthers(view.totals, event);
      const { output, shown } = endedOutput(view, style);
      return lines({ ...view, output, totals }, [...shown, `    ${mark} ${agent} ${safeLine(facts, room)}`]);
    }
  }
}

/** Shows the line that output of an asked agent's call has left open; what follows is another's. */
function endedOutput({ output }: TerminalView, style: Style) {
  return { output: noOutput, shown: endOutput(output, style).shown };
}
