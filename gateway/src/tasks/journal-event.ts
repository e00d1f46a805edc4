import type { RunEnded } from "@manyhands/shared/core/engine";
import type { AgentEvent } from "@manyhands/shared/core/events/agent-events";
import * as z from "zod";

const text = z.string();
const file = { sha256: text, name: text, mediaType: text, size: z.number() };
const part = z.union([
  z.looseObject({ type: z.literal("text"), text }),
  z.looseObject({ type: z.literal("file"), ...file }),
  z.looseObject({ type: z.literal("url"), url: text }),
  z.looseObject({ type: z.literal("data"), data: z.json() }),
]);
const usage = z.looseObject({
  inputTokens: z.number(),
  cachedInputTokens: z.number(),
  outputTokens: z.number(),
  costUsd: z.number().nullable(),
  source: z.enum(["provider", "estimate"]),
});
const taskUsage = z.looseObject({ tokens: z.number(), usd: z.number(), unpriced: z.boolean() });
const ask = { askId: text, agent: text };
const call = z.looseObject({ id: text, name: text, arguments: text });

const journalEvent = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("message-received"), messageId: text, parts: z.array(part) }),
  z.looseObject({ type: z.literal("step-started"), step: z.number(), maxSteps: z.number() }),
  z.looseObject({
    type: z.literal("model-replied"),
    text,
    toolCalls: z.array(call),
    usage,
    discarded: usage.optional(),
    model: text,
    milliseconds: z.number(),
  }),
  z.looseObject({
    type: z.literal("model-asked"),
    callId: text,
    usage,
    discarded: usage.optional(),
    model: text,
    milliseconds: z.number(),
  }),
  z.looseObject({ type: z.literal("tool-started"), callId: text, name: text, arguments: text }),
  z.looseObject({
    type: z.literal("tool-ended"),
    callId: text,
    name: text,
    text,
    isError: z.boolean(),
    milliseconds: z.number(),
  }),
  z.looseObject({
    type: z.literal("context-compacted"),
    summary: text,
    kept: z.number(),
    usage: usage.optional(),
    discarded: usage.optional(),
  }),
  z.looseObject({ type: z.literal("agent-asked"), ...ask, text }),
  z.looseObject({ type: z.literal("agent-progressed"), ...ask, text, usedSoFar: taskUsage.optional() }),
  z.looseObject({
    type: z.literal("agent-answered"),
    ...ask,
    state: z.enum(["completed", "failed", "canceled", "rejected", "timed-out"]),
    files: z.array(z.looseObject(file)),
    usage: taskUsage.optional(),
    error: z.looseObject({ code: text, message: text }).optional(),
  }),
  z.looseObject({ type: z.literal("agent-chosen"), note: text }),
  z.looseObject({ type: z.literal("step-assigned"), note: text }),
  z.looseObject({ type: z.literal("step-ended"), outcome: z.enum(["completed", "failed", "blocked"]), note: text }),
  z.looseObject({ type: z.literal("plan-changed"), text, note: text }),
  z.looseObject({ type: z.literal("branch-begun"), note: text }),
  z.looseObject({
    type: z.literal("branch-ended"),
    outcome: z.enum(["completed", "failed", "canceled"]),
    note: text,
  }),
  z.looseObject({ type: z.literal("policy-settled"), met: z.boolean(), note: text }),
  z.looseObject({ type: z.literal("choice-made"), note: text }),
  z.looseObject({ type: z.literal("iteration-begun"), note: text }),
  z.looseObject({
    type: z.literal("iteration-ended"),
    outcome: z.enum(["passed", "not_passed", "failed"]),
    note: text,
  }),
  z.looseObject({
    type: z.literal("round-begun"),
    positions: z.array(z.looseObject({ debater: text, agent: text, position: text })).optional(),
    note: text,
  }),
  z.looseObject({ type: z.literal("argument-made"), note: text }),
  z.looseObject({ type: z.literal("debater-absent"), note: text }),
  z.looseObject({ type: z.literal("round-ended"), note: text }),
  z.looseObject({ type: z.literal("verdict-given"), note: text }),
  z.looseObject({ type: z.literal("question-asked"), question: text, kind: text }),
  z.looseObject({ type: z.literal("notice-given"), kind: text, text }),
  z.looseObject({ type: z.literal("artifact-added"), artifactId: text, name: text, parts: z.array(part) }),
  z.looseObject({ type: z.literal("run-paused"), error: z.looseObject({ message: text }).optional() }),
  z.looseObject({ type: z.literal("run-resumed") }),
  z.looseObject({ type: z.literal("run-ended"), status: z.enum(["completed", "failed", "canceled"]) }),
]);

/** An event of a journal, with those that the engine adds. */
export type JournalEvent =
  | AgentEvent
  | RunEnded
  | { readonly type: "run-paused"; readonly error?: { readonly message: string } }
  | { readonly type: "run-resumed" };

/** An event of a journal as it came over the wire; undefined for one this version does not know, which is no fault. */
export function readJournalEvent(value: unknown): JournalEvent | undefined {
  const parsed = journalEvent.safeParse(value);
  return parsed.success ? (parsed.data as JournalEvent) : undefined;
}
