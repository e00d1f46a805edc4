import { expect, test } from "bun:test";
import type { RunEvent } from "../core/runs/run.ts";
import { applyEvent, emptyProjection, type TaskProjection } from "../runs/projection.ts";
import { hitlExtension } from "./extensions.ts";
import { type ActiveExtensions, eventUpdate, progressUpdate } from "./stream-update.ts";

const identity = { id: "r", contextId: "c" };
const received = { type: "message-received", messageId: "m", parts: [] };
const notice = { type: "notice-given", kind: "budget", text: "Little is left." };
const step = { type: "step-started", step: 1, maxSteps: 2 };
const asked = { type: "question-asked", question: "Which?", kind: "question" };
const artifact = { type: "artifact-added", artifactId: "r/a", name: "answer", parts: [{ type: "text", text: "42" }] };

/** The update of the last of these events. */
function update(events: readonly RunEvent[], active?: ActiveExtensions) {
  const stored = events.map((event, at) => ({ runId: "r", seq: at + 1, at: at + 10, event }));
  const projection = stored.reduce<TaskProjection>(applyEvent, emptyProjection);
  const last = stored.at(-1);
  if (last === undefined) throw new Error("There is an event.");
  const { payload } = eventUpdate(identity, projection, last, "http://a.example", active);
  if (payload?.$case === "statusUpdate") {
    const { status, metadata } = payload.value;
    const said = status?.message;
    return {
      said: said?.parts.map(({ content }) => content?.value).join(),
      form: said?.metadata?.[hitlExtension],
      metadata,
    };
  }
  return payload?.$case === "artifactUpdate" ? payload.value : undefined;
}

test("a line is sent with the event it came from, and not again with the next one", () => {
  expect(update([received, notice])).toMatchObject({ said: "Little is left." });
  expect(update([received, notice, step])).toMatchObject({ said: undefined });
});

test("each event has its place and the usage so far; itself only where the journal is wanted", () => {
  const metadata = (active?: ActiveExtensions) => (update([received, step], active) as { metadata: object }).metadata;
  const usage = { tokens: 0, outputTokens: 0, usd: 0, unpriced: false };
  const seqAndUsage = { "manyhands/seq": 2, "manyhands/usage": usage };
  expect(metadata()).toEqual(seqAndUsage);
  expect(metadata({ journal: true })).toEqual({ ...seqAndUsage, "manyhands/event": { at: 11, event: step } });
});

test("a question is also in the form of the extension for who activates it", () => {
  expect(update([received, asked])).toMatchObject({ said: "Which?", form: undefined });
  expect(update([received, asked], { hitl: true })).toMatchObject({
    said: "Which?",
    form: { type: "ask_user_request" },
  });
});

test("an artifact comes whole, as its last and only chunk, without the event even where the journal is wanted", () => {
  const sent = update([received, artifact], { journal: true });
  expect(sent).toMatchObject({ taskId: "r", artifact: { artifactId: "r/a" }, append: false, lastChunk: true });
  expect(Object.keys((sent as { metadata: object }).metadata)).toEqual(["manyhands/seq", "manyhands/usage"]);
});

test("live progress has no place and no words of the task", () => {
  const projection = applyEvent(emptyProjection, { runId: "r", seq: 1, at: 0, event: notice });
  const event = { type: "text-delta", text: "x" };
  const { payload } = progressUpdate(identity, projection, event);
  expect(payload?.value).toMatchObject({ status: { message: undefined }, metadata: { "manyhands/progress": event } });
});

test("every update names the task and its conversation", () => {
  const projection = applyEvent(emptyProjection, { runId: "r", seq: 1, at: 0, event: notice });
  const ofEvent = (event: RunEvent) =>
    eventUpdate(identity, projection, { runId: "r", seq: 1, at: 0, event }, "http://a.example").payload?.value;
  const ofProgress = progressUpdate(identity, projection, { type: "text-delta", text: "x" }).payload?.value;
  for (const value of [ofEvent(notice), ofEvent(artifact), ofProgress])
    expect(value).toMatchObject({ taskId: "r", contextId: "c" });
});
