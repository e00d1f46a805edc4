import type { SseFrame } from "@manyhands/shared/a2a/sse";
import { statusLines } from "@manyhands/shared/a2a/status-text";
import type { Engine, RunRecord } from "@manyhands/shared/durable/engine";
import type { RunEvent } from "@manyhands/shared/durable/run";
import type { Runs } from "@manyhands/shared/runs/runs";
import { completionText, usageOf } from "./completion.ts";

/** How a completion is streamed. */
export type ChunkOptions = {
  readonly model: string;
  readonly includeUsage: boolean;
  readonly signal: AbortSignal;
};

/**
 * A run as the chunks of a completion: what it does comes as `reasoning_content`, which chat front ends show apart, and its answer or
 * question as `content`. Throws what the run failed with.
 */
export async function* chunks(
  run: RunRecord,
  deps: { readonly engine: Engine; readonly runs: Runs },
  { model, includeUsage, signal }: ChunkOptions,
): AsyncGenerator<SseFrame, void, undefined> {
  const about = {
    id: `chatcmpl-${run.id}`,
    object: "chat.completion.chunk",
    created: Math.floor(run.createdAt / 1000),
    model,
  };
  const chunk = (delta: object, finish: "stop" | null = null): SseFrame => ({
    data: { ...about, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] },
  });
  const lineOf = statusLines();
  yield chunk({ role: "assistant", content: "" });
  for await (const item of deps.engine.follow(run.id, { after: run.lastEvent, signal })) {
    if (item.kind === "progress") continue;
    const { type } = item.event;
    if (type === "run-ended" || type === "question-asked" || type === "run-paused") break;
    const line = lineOf(item.event);
    if (line !== undefined) yield chunk({ reasoning_content: [line, ...planLines(item.event), ""].join("\n") });
  }
  signal.throwIfAborted();
  const view = await deps.runs.view(await deps.runs.own(run.id, run.principal));
  yield chunk({ content: completionText(view) });
  yield chunk({}, "stop");
  if (includeUsage) yield { data: { ...about, choices: [], usage: usageOf(view) } };
  yield { data: "[DONE]", plain: true };
}

/** The steps of a plan with their marks, where an event tells a new one. */
function planLines(event: RunEvent): string[] {
  const { type, text } = event as RunEvent & { readonly text?: unknown };
  if (type !== "plan-changed" || typeof text !== "string") return [];
  return [...text.matchAll(/^\d+\. (\[[ →✓!]\] .*)$/gmu)].map(([, step]) => `- ${step}`);
}
