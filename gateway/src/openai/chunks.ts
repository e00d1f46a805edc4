import type { ReadEvent } from "manyhands/internal/core/events/events";
import type { PeerWriting, Progress } from "manyhands/internal/core/events/progress";
import { readEvent } from "manyhands/internal/core/events/read-event";
import type { Engine, RunRecord } from "manyhands/internal/core/runs/engine";
import type { SseFrame } from "manyhands/internal/http/sse";
import type { Runs } from "manyhands/internal/runs/runs";
import { statusLines } from "manyhands/internal/runs/status-text";
import { completionText, usageOf } from "./completion.ts";
import { type WrittenText, writtenText } from "./written-text.ts";

/** How a completion is streamed. */
export type ChunkOptions = {
  readonly model: string;
  readonly includeUsage: boolean;
  /** The answer is JSON, and nothing but it. */
  readonly json: boolean;
  readonly signal: AbortSignal;
};

/**
 * A run as the chunks of a completion: its activity is `reasoning_content`, which chat front ends
 * show separately; its answer or question is `content`, streamed as it is written. Throws the run's
 * error.
 */
export async function* chunks(
  run: RunRecord,
  deps: { readonly engine: Engine; readonly runs: Runs },
  { model, includeUsage, json, signal }: ChunkOptions,
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
  const written = writtenText();
  yield chunk({ role: "assistant", content: "" });
  for await (const item of deps.engine.follow(run.id, { after: run.lastEvent, shown: true, signal })) {
    if (item.kind === "progress") {
      const content = json ? "" : contentOf(item.event as PeerWriting | Progress, written);
      if (content !== "") yield chunk({ content });
      continue;
    }
    const event = readEvent(item.event);
    if (event.type === "run-ended" || event.type === "question-asked" || event.type === "run-paused") break;
    const line = lineOf(event);
    if (line !== undefined) yield chunk({ reasoning_content: [line, ...planLines(event), ""].join("\n") });
  }
  signal.throwIfAborted();
  const view = await deps.runs.view(await deps.runs.own(run.id, run.principal));
  const content = completionText(view, { json, written: written.answer });
  if (content !== "") yield chunk({ content });
  yield chunk({}, "stop");
  if (includeUsage) yield { data: { ...about, choices: [], usage: usageOf(view) } };
  yield { data: "[DONE]", plain: true };
}

/**
 * The piece of the answer in an event. Several agents may write at the same time; only marked text
 * belongs to the answer.
 */
function contentOf(event: PeerWriting | Progress, written: WrittenText): string {
  if (!("isAnswer" in event) || event.isAnswer !== true) return "";
  if (event.type === "agent-written") return written.reply(event.text);
  return event.at === undefined ? "" : written.piece(event.text, event.at);
}

/** The items of a changed plan with their marks. */
function planLines(event: ReadEvent): string[] {
  const text = event.type === "flow-told" && event.of === "plan-changed" ? event.data.text : undefined;
  return typeof text === "string"
    ? [...text.matchAll(/^\d+\. (\[[ →✓!]\] .*)$/gmu)].map(([, step]) => `- ${step}`)
    : [];
}
