import { expect, test } from "bun:test";
import type { RunEvent } from "../../core/runs/run.ts";
import { type AnswerDraft, growingAnswer } from "./growing-answer.ts";

const delta = (text: string, at?: number, isAnswer?: boolean): RunEvent => ({
  type: "text-delta",
  text,
  ...(at !== undefined && { at }),
  ...(isAnswer && { isAnswer }),
});
const writing = (text: string, at: number, isAnswer?: boolean): RunEvent => ({
  type: "agent-writing",
  askId: "a",
  text,
  at,
  ...(isAnswer && { isAnswer }),
});
const written = (isAnswer: boolean, isThought: boolean): RunEvent => ({
  type: "agent-written",
  askId: "a",
  text: "x",
  isAnswer,
  isThought,
});
const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, costUsd: null, source: "provider" };
const replied = (calls: number): RunEvent => ({
  type: "model-replied",
  text: "x",
  toolCalls: Array.from({ length: calls }, () => ({ id: "1", name: "bash", arguments: "{}" })),
  usage,
  model: "m",
  milliseconds: 1,
});
const asked: RunEvent = { type: "question-asked", question: "Which?", kind: "question" };
const notice: RunEvent = { type: "notice-given", kind: "budget", text: "x" };
const live = new Set(["text-delta", "agent-writing", "agent-written"]);

/** What a reader has of the answer after each event, `=` before a chunk that begins it anew. */
function read(draft: AnswerDraft, ...events: readonly RunEvent[]) {
  const answer = growingAnswer({ id: "r", contextId: "c" }, draft);
  return events.map((event) => {
    const updates = live.has(event.type) ? answer.grow(event) : answer.settle({ runId: "r", seq: 1, at: 0, event });
    return updates
      .map(({ payload }) => {
        if (payload?.$case !== "artifactUpdate") throw new Error("Only the answer grows.");
        const { artifact, append, lastChunk } = payload.value;
        expect([artifact?.artifactId, artifact?.name, lastChunk]).toEqual(["r/answer", "answer", false]);
        const text = artifact?.parts.map(({ content }) => content?.value).join("");
        return `${append ? "+" : "="}${text}`;
      })
      .join(" ");
  });
}

test.each<readonly [string, AnswerDraft, readonly RunEvent[], readonly string[]]>([
  ["grows piece by piece", "replies", [delta("It ", 0), delta("is.", 3)], ["= +It ", "+is."]],
  [
    "waits where a piece is missing, until it begins anew",
    "replies",
    [delta("It ", 0), delta(".", 5), delta("So", 0)],
    ["= +It ", "", "= +So"],
  ],
  ["is not joined in its middle", "replies", [delta("is.", 3), delta("!", 6)], ["", ""]],
  ["needs places", "replies", [delta("It")], [""]],
  [
    "is emptied by a reply that calls tools",
    "replies",
    [delta("Hm", 0), replied(1), delta("So", 0)],
    ["= +Hm", "=", "= +So"],
  ],
  ["stays with a reply that is one", "replies", [delta("Hm", 0), replied(0)], ["= +Hm", ""]],
  ["is emptied by a question, once", "replies", [delta("Hm", 0), asked, asked], ["= +Hm", "=", ""]],
  ["stays with other events", "replies", [delta("Hm", 0), notice], ["= +Hm", ""]],
  ["is not emptied before it began", "replies", [replied(1), asked, written(true, true)], ["", "", ""]],
  ["of a flow is only what the flow marks", "marked", [delta("Hm", 0), delta("So", 0, true)], ["", "= +So"]],
  ["may be what an agent writes, if marked", "marked", [writing("Hm", 0), writing("So", 0, true)], ["", "= +So"]],
  ["is never another agent's unmarked text", "replies", [writing("Hm", 0)], [""]],
  ["is emptied when its agent goes on", "marked", [writing("Hm", 0, true), written(true, true)], ["= +Hm", "="]],
  ["stays when its agent is done", "marked", [writing("Hm", 0, true), written(true, false)], ["= +Hm", ""]],
  ["stays when another agent goes on", "marked", [writing("Hm", 0, true), written(false, true)], ["= +Hm", ""]],
])("the answer %s", (_, draft, events, expected) => {
  expect(read(draft, ...events)).toEqual([...expected]);
});
