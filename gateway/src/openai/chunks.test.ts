import { expect, test } from "bun:test";
import type { Engine, FollowItem, FollowPlace, RunRecord } from "manyhands/internal/core/runs/engine";
import type { RunView } from "manyhands/internal/runs/run-view";
import type { Runs } from "manyhands/internal/runs/runs";
import { type ChunkOptions, chunks } from "./chunks.ts";

const run = { id: "r1", principal: "ann", createdAt: 1_999, lastEvent: 3 } as RunRecord;
const view = {
  ...{ id: "r1", status: "completed", answer: "There are 168.", files: [] },
  usage: { tokens: 7, outputTokens: 2, usd: 0, unpriced: false },
} as unknown as RunView;

type Data = {
  readonly choices: readonly { readonly delta: Record<string, string>; readonly finish_reason: unknown }[];
};

/** The chunks of a run in which this happens after its place. */
async function chunksOf(items: readonly FollowItem[], over: Partial<ChunkOptions> = {}, shown: RunView = view) {
  const asked: unknown[] = [];
  const engine = {
    async *follow(id: string, { after, shown: isShown }: FollowPlace) {
      asked.push([id, after, isShown]);
      yield* items;
    },
  } as unknown as Engine;
  const runs = {
    async own(...given: unknown[]) {
      asked.push(given);
      return run;
    },
    view: async () => shown,
  } as unknown as Runs;
  const { signal } = new AbortController();
  const options = { model: "swe", includeUsage: false, json: false, signal, ...over };
  const frames = await Array.fromAsync(chunks(run, { engine, runs }, options));
  const data = frames.slice(0, -1).map(({ data }) => data as Data);
  const told = data.flatMap(({ choices }) => choices.map(({ delta }) => delta));
  return { asked, frames, data, contents: told.flatMap(({ content }) => (content === undefined ? [] : [content])) };
}

const progress = (event: object): FollowItem => ({ kind: "progress", event }) as unknown as FollowItem;
const written = (text: string, over: object = {}) =>
  progress({ type: "agent-writing", askId: "a", text, at: 0, isAnswer: true, ...over });

test("chunks are of one completion, of which the last alone is finished, then its usage and the end", async () => {
  const { frames, data, asked } = await chunksOf([], { includeUsage: true });
  const about = { id: "chatcmpl-r1", object: "chat.completion.chunk", created: 1, model: "swe" };
  const choice = { index: 0, logprobs: null };
  expect(data as unknown[]).toEqual([
    { ...about, choices: [{ ...choice, delta: { role: "assistant", content: "" }, finish_reason: null }] },
    { ...about, choices: [{ ...choice, delta: { content: "There are 168." }, finish_reason: null }] },
    { ...about, choices: [{ ...choice, delta: {}, finish_reason: "stop" }] },
    { ...about, choices: [], usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } },
  ]);
  expect(frames.at(-1)).toEqual({ data: "[DONE]", plain: true });
  expect(asked).toEqual([
    // It was shown nothing yet of an answer that may have begun.
    ["r1", 3, true],
    ["r1", "ann"],
  ]);
});

test("text that is no piece of the answer, or has no place in it, is not sent as if it were", async () => {
  const items = [
    written("Another's.", { isAnswer: false }),
    written("Nobody's.", { isAnswer: undefined }),
    progress({ type: "text-delta", text: "Nowhere.", isAnswer: true }),
    progress({ type: "tool-output", callId: "c", text: "out" }),
    written("There "),
  ];
  expect((await chunksOf(items)).contents).toEqual(["", "There ", "are 168."]);
});

test("who asked for JSON gets the data at the end and nothing before it", async () => {
  const shown = { ...view, data: { n: 168 } } as RunView;
  expect((await chunksOf([written("There ")], { json: true }, shown)).contents).toEqual(["", '{"n":168}']);
});

test("a changed plan is told with its marks, one line an item", async () => {
  const text = "Plan\n1. [✓] Read\n2. [→] Write\n3. [!] Send\n4. [ ] Rest\nNotes";
  const event = { type: "plan-changed", note: "The plan", data: { text } };
  const { data } = await chunksOf([{ kind: "event", runId: "r1", seq: 4, at: 0, event } as unknown as FollowItem]);
  expect(data[1]?.choices[0]?.delta).toEqual({
    reasoning_content: "The plan\n- [✓] Read\n- [→] Write\n- [!] Send\n- [ ] Rest\n",
  });
});

test("of a run whose reader is gone nothing more is told", async () => {
  const left = AbortSignal.abort(new Error("left"));
  await expect(chunksOf([], { signal: left })).rejects.toThrow("left");
});
