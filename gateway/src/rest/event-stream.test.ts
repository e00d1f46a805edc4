import { expect, test } from "bun:test";
import { AppError } from "manyhands/internal/core/errors";
import type { Engine, FollowItem, RunRecord } from "manyhands/internal/core/runs/engine";
import { eventStream, placeOf } from "./event-stream.ts";

const item = (seq: number): FollowItem => ({
  kind: "event",
  runId: "r",
  seq,
  at: 0,
  event: { type: "step-started", step: seq, maxSteps: 9 },
});
const progress: FollowItem = { kind: "progress", event: { type: "text-delta", text: "x" } };

/** A run's stream, and what its engine was asked. */
function streamOf(pages: (signal: AbortSignal) => AsyncGenerator<readonly FollowItem[]>) {
  const asked: { id: string; after: number; signal: AbortSignal }[] = [];
  const engine = {
    follow(id: string, { after, signal }: { readonly after: number; readonly signal: AbortSignal }) {
      asked.push({ id, after, signal });
      return { pages: () => pages(signal) };
    },
  } as unknown as Engine;
  const { signal } = new AbortController();
  return { asked, answer: eventStream(engine, { id: "r" } as RunRecord, { after: 3, heartbeatMs: 60_000, signal }) };
}
const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

test("stored events have their number and time, progress has neither, and the reader's place is passed on", async () => {
  const { asked, answer } = streamOf(async function* () {
    yield [item(4), progress];
    yield [item(5)];
  });
  const frames = (await (await answer).text()).trim().split("\n\n");
  expect(frames.map((frame) => /^id: (.*)$/m.exec(frame)?.[1])).toEqual(["4", undefined, "5"]);
  const data = frames.map((frame) => JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? ""));
  expect(data[0]).toMatchObject({ seq: 4, at: "1970-01-01T00:00:00.000Z", event: { type: "step-started" } });
  expect(data[1]).toEqual({ progress: { type: "text-delta", text: "x" } });
  expect(asked).toMatchObject([{ id: "r", after: 3 }]);
});

test("a reader that goes ends the following of the run", async () => {
  const { asked, answer } = streamOf(async function* (signal) {
    yield [item(4)];
    await untilAborted(signal);
  });
  const reader = (await answer).body?.getReader();
  await reader?.read();
  await reader?.cancel();
  expect(asked[0]?.signal.aborted).toBe(true);
});

test("a stream answers at once, however long nothing happens", async () => {
  const engine = {
    follow: (_: string, { signal }: { readonly signal: AbortSignal }) => ({
      pages: () => ({
        [Symbol.asyncIterator]: () => ({
          next: () => untilAborted(signal).then(() => ({ done: true, value: undefined })),
        }),
      }),
    }),
  } as unknown as Engine;
  await using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ signal }) => eventStream(engine, { id: "r" } as RunRecord, { after: 3, heartbeatMs: 600_000, signal }),
  });
  const response = await fetch(server.url);
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  await response.body?.cancel();
});

test("a stream that breaks off tells why, and of a bug nothing", async () => {
  for (const [error, told] of [
    [new AppError("storage_unavailable", "The disk is full."), '"code":"storage_unavailable"'],
    [new TypeError("a secret"), '"code":"internal"'],
  ] as const) {
    const { answer } = streamOf(async function* () {
      yield [item(4)];
      throw error;
    });
    const last = (await (await answer).text()).trim().split("\n\n").at(-1);
    expect(last).toStartWith("event: error\n");
    expect(last).toContain(told);
    expect(last).not.toContain("a secret");
  }
});

test.each([
  [undefined, undefined, 0],
  ["7", undefined, 7],
  [undefined, "8", 8],
  ["7", "8", 7],
  ["", "8", 0],
])("a reader with the header %p and the query %p goes on after %i", (header, query, place) => {
  expect(placeOf(header, query)).toBe(place);
});
