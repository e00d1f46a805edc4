import { expect, test } from "bun:test";
import type { Engine, RunRecord } from "manyhands/internal/core/runs/engine";
import type { Deletions } from "manyhands/internal/runs/deletions";
import type { Runnables } from "manyhands/internal/runs/runnable";
import type { Runs } from "manyhands/internal/runs/runs";
import { noting, restForTest } from "../../testing/rest.ts";
import { runRoutes } from "./run-routes.ts";

/** The routes over a run of ann's, and what they ask of it. */
function routes() {
  const own = { id: "r1" } as RunRecord;
  const runs = noting({
    own,
    ...{ answer: { id: "answered" }, cancel: { id: "canceled" }, resume: { id: "resumed" } },
  });
  const deletions = noting({ run: { deleted: ["r1"] }, conversation: { deleted: ["r1", "r2"] } });
  const followed: { readonly id: string; readonly after: number; readonly signal: AbortSignal }[] = [];
  const engine = {
    follow: (id: string, place: { readonly after: number; readonly signal: AbortSignal }) => {
      followed.push({ id, ...place });
      return { pages: async function* () {} };
    },
  };
  const rest = restForTest(
    runRoutes({
      runs: { ...runs.functions, view: async ({ id }: RunRecord) => ({ id }) } as unknown as Runs,
      deletions: deletions.functions as unknown as Deletions,
      engine: engine as unknown as Engine,
      runnables: { all: () => [], ofKind: () => undefined } as Runnables,
      heartbeatMs: 60_000,
    }),
  );
  return { ...rest, asked: runs.asked, deleted: deletions.asked, followed };
}

test("an answer goes to the run and the question it names, under its key, in the caller's name", async () => {
  const { ask, asked } = routes();
  const said = { json: { input: "yes", questionEvent: 7 }, headers: { "Idempotency-Key": "k" } };
  const answered = await ask("POST", "/runs/r1/answer", said);
  expect([answered.status, await answered.json()]).toEqual([202, { id: "answered" }]);
  const message = { messageId: "k", parts: [{ type: "text", text: "yes" }] };
  expect(asked).toEqual([["answer", "r1", message, "ann", 7]]);
  await ask("POST", "/runs/r1/answer", { json: { input: "no" } });
  const [, second] = asked;
  expect(second?.[2]).toMatchObject({ messageId: expect.stringMatching(/^[\da-f-]{36}$/) });
  expect(second?.[4]).toBeUndefined();
  for (const wrong of [{ input: "yes", questionEvent: 0 }, { input: "" }, { input: "yes", more: 1 }, {}])
    expect((await ask("POST", "/runs/r1/answer", { json: wrong })).status).toBe(400);
  expect(asked).toHaveLength(2);
});

test("a run is canceled, resumed and deleted in the caller's name; a caller that goes gives up its cancel", async () => {
  const { ask, asked, deleted } = routes();
  const gone = new AbortController();
  const answers = [
    await ask("POST", "/runs/r1/cancel", { signal: gone.signal }),
    await ask("POST", "/runs/r1/resume"),
    await ask("DELETE", "/runs/r1"),
    await ask("DELETE", "/conversations/c1"),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 202, 200, 200]);
  expect(await Promise.all(answers.map((one) => one.json()))).toEqual([
    { id: "canceled" },
    { id: "resumed" },
    { deleted: ["r1"] },
    { deleted: ["r1", "r2"] },
  ]);
  expect(asked).toEqual([
    ["cancel", "r1", "ann", expect.any(AbortSignal)],
    ["resume", "r1", "ann"],
    ["own", "r1", "ann"],
  ]);
  expect(deleted).toEqual([
    ["run", { id: "r1" }],
    ["conversation", "c1", "ann"],
  ]);
  gone.abort();
  expect(asked[0]?.[3]).toMatchObject({ aborted: true });
});

test("a stream of a run's events goes on where its reader is, and ends with it", async () => {
  const { ask, asked, followed } = routes();
  const gone = new AbortController();
  await ask("GET", "/runs/r1/events", { signal: gone.signal });
  await ask("GET", "/runs/r1/events?after=3");
  await ask("GET", "/runs/r1/events?after=3", { headers: { "Last-Event-ID": "5" } });
  expect(followed.map(({ id, after }) => [id, after])).toEqual([
    ["r1", 0],
    ["r1", 3],
    ["r1", 5],
  ]);
  expect(asked.every((one) => one[0] === "own" && one[2] === "ann")).toBe(true);
  gone.abort();
  expect(followed[0]?.signal.aborted).toBe(true);
  for (const after of ["-1", "x", "1.5", "1".repeat(16)])
    expect((await ask("GET", `/runs/r1/events?after=${after}`)).status).toBe(400);
});
