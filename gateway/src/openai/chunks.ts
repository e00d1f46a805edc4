import type { Engine, RunRecord } from "manyhands/internal/core/engine";
import { type ReadEvent, readEvent } from "manyhands/internal/core/events";
import type { PeerWriting } from "manyhands/internal/core/progress";
import type { SseFrame } from "manyhands/internal/http/sse";
import type { Runs } from "manyhands/internal/runs/runs";
import { statusLines } from "manyhands/internal/runs/status-text";
import { agentKind } from "../flows/agent-flow.ts";
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
 * A run as the chunks of a completion: what it does comes as `reasoning_content`, which chat front ends show apart, and its answer or
 * question as `content`; so does what an agent writes, as it writes it. Throws what the run failed with.
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
  // Several agents write at the same time, and what they write is no part of the answer.
  const writes = !json && run.kind.startsWith(agentKind(""));
  yield chunk({ role: "assistant", content: "" });
  for await (const item of deps.engine.follow(run.id, { after: run.lastEvent, signal })) {
    if (item.kind === "progress") {
      const content = writes ? contentOf(item.event as PeerWriting, written) : "";
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

function contentOf(event: PeerWriting, written: WrittenText): string {
  if (event.type === "agent-writing") return written.piece(event.text, event.at);
  return event.type === "agent-written" ? written.reply(event.text) : "";
}

/** The steps of a plan with their marks, where an event tells a new one. */
function planLines(event: ReadEvent): string[] {
  const text = event.type === "flow-told" && event.of === "plan-changed" ? event.data.text : undefined;
  return typeof text === "string"
    ? [...text.matchAll(/^\d+\. (\[[ →✓!]\] .*)$/gmu)].map(([, step]) => `- ${step}`)
    : [];
}
