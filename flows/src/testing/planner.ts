import type { ReadEvent } from "manyhands/internal/core/events/events";
import { type ChatRequest, chatText } from "manyhands/internal/models/chat/chat-protocol";
import { flowEvents } from "manyhands/internal/testing/flow";
import type { ScriptedReply } from "manyhands/internal/testing/models/scripted-model";

/** A step as a scripted planner writes it. */
export type StepForTest = {
  readonly id?: string | null;
  readonly text: string;
  readonly agent: string;
  readonly depends_on?: readonly (string | number)[] | null;
  readonly expected?: string;
  readonly delivers?: readonly string[];
};

type Reply = ScriptedReply | ((text: string) => ScriptedReply);

/**
 * The model of a planning flow: it plans from a list (first a plan, then its revisions), checks
 * single steps by `check` (met if left out), and at the end writes the answer by `report` unless
 * `notDone` or `missing` names something (nothing if left out).
 */
export function plannerForTest(spec: {
  readonly plans: readonly Reply[];
  readonly check?: (text: string) => { verdict: string; evidence: string; reason: string };
  readonly notDone?: (text: string) => readonly { step: string; reason: string }[];
  readonly missing?: (text: string) => readonly { what: string; reason: string }[];
  readonly report?: (text: string) => ScriptedReply;
}): (request: ChatRequest) => ScriptedReply {
  let planned = 0;
  return (request) => {
    const text = promptOf(request);
    // A planner that made no call is asked for JSON of the same schema.
    const isPlan = JSON.stringify(request.response_format ?? {}).includes('"steps"');
    const tool = request.tools?.[0]?.function.name ?? (isPlan ? "planning" : undefined);
    if (tool === "planning") {
      const reply = spec.plans[planned++] ?? { status: 400, error: { message: "no more plans" } };
      return typeof reply === "function" ? reply(text) : reply;
    }
    if (tool === "check_step") {
      const args = spec.check?.(text) ?? { verdict: "met", evidence: "it says so", reason: "done" };
      return { calls: [{ name: "check_step", args }] };
    }
    const [not_done, missing] = [spec.notDone?.(text) ?? [], spec.missing?.(text) ?? []];
    const isForced = typeof request.tool_choice === "object";
    if (tool === "check_task" && (isForced || not_done.length + missing.length > 0))
      return { calls: [{ name: "check_task", args: { not_done, missing } }] };
    return spec.report?.(text) ?? { text: "the report" };
  };
}

/** A plan. */
export function plan(...steps: StepForTest[]): ScriptedReply {
  return { calls: [{ name: "planning", args: { command: "create", title: "Trip", steps } }] };
}

/** A revision of a plan. */
export function revision(verdict: string, ...steps: StepForTest[]): ScriptedReply {
  return { calls: [{ name: "planning", args: { command: "update", verdict, reason: `because ${verdict}`, steps } }] };
}

/** Everything in the newest user and tool messages of a request. */
export function promptOf({ messages }: ChatRequest): string {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  return messages
    .slice(last + 1)
    .filter(({ role }) => role !== "system")
    .map(chatText)
    .join("\n");
}

/** The steps of each emitted plan, with their marks: `✓ Book`. */
export function marksOf(events: readonly ReadEvent[]): string[] {
  return flowEvents(events, "plan-changed").map(({ text }) =>
    [...text.matchAll(/^\d+\. \[(.)\] \[[^\]]*\] (.*)$/gmu)].map(([, mark, step]) => `${mark}${step}`).join("|"),
  );
}
