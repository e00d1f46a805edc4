import { expect, test } from "bun:test";
import { callerNamed } from "manyhands/internal/core/caller";
import type { FlowExample } from "manyhands/internal/core/flow";
import type { Engine, RunRecord } from "manyhands/internal/core/runs/engine";
import type { Deletions } from "manyhands/internal/runs/deletions";
import type { Runnable, Runnables } from "manyhands/internal/runs/runnable";
import type { Runs } from "manyhands/internal/runs/runs";
import { flowRoutes } from "./flow-routes.ts";
import { restApp } from "./rest-app.ts";
import { runRoutes } from "./runs/run-routes.ts";

const example = { text: "Is it so?", agents: ["swe"] };

/** The routes over runs that only note what they are asked. */
function routes(status = "completed") {
  const asked: [string, ...unknown[]][] = [];
  const record = { id: "r1" } as RunRecord;
  const noting =
    <Answer>(name: string, answer: Answer) =>
    async (...what: unknown[]) => {
      asked.push([name, ...what]);
      return answer;
    };
  const runs = {
    start: noting("start", record),
    settled: noting("settled", record),
    list: noting("list", { runs: [], total: 0 }),
    view: async () => ({ id: "r1", status }),
  } as unknown as Runs;
  const flow = {
    type: "flow",
    name: "debate",
    title: "Debate",
    description: "Argues.",
    options: { type: "object" },
    example,
  } as Partial<Runnable> as Runnable;
  const all = [flow, { ...flow, name: "swe", type: "agent" as const }];
  const runnables = { all: () => all, ofKind: () => undefined } as Runnables;
  const rest = { engine: {} as Engine, deletions: {} as Deletions, heartbeatMs: 60_000 };
  const app = restApp([...flowRoutes({ runs, runnables }), ...runRoutes({ runs, runnables, ...rest })], {
    identify: () => callerNamed("ann"),
    report: () => undefined,
  });
  const post = (body: object, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    app.request("/flows/debate", {
      ...{ method: "POST", ...(signal && { signal }) },
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  return { asked, app, post, flow };
}

test("a start passes on the conversation, the budget, the schema and the settings, under the caller's name", async () => {
  const { asked, post, flow } = routes();
  const outputSchema = { type: "object" };
  const budget = { tokens: 5, usd: 0 };
  const given = { input: "Go", contextId: "c", agents: ["one"], options: { rounds: 2 }, budget, outputSchema };
  const answer = await post(given, { "Idempotency-Key": "key-1" });
  expect([answer.status, answer.headers.get("Location"), answer.headers.get("Preference-Applied")]).toEqual([
    202,
    "/runs/r1",
    null,
  ]);
  expect(await answer.json()).toEqual({ runId: "r1", id: "r1", status: "completed" });
  expect(asked).toEqual([["start", flow, expect.objectContaining({ contextId: "c", budget, outputSchema }), "ann"]]);
  expect(asked[0]?.[2]).toMatchObject({
    message: {
      messageId: "key-1",
      parts: [{ type: "text", text: "Go" }],
      metadata: { "manyhands/flow": { agents: ["one"], options: { rounds: 2 } } },
    },
  });
});

test.each([
  ["completed", 200],
  ["failed", 200],
  ["input-required", 200],
  ["paused", 200],
  ["running", 202],
  ["queued", 202],
  ["waiting", 202],
])("a run that was waited for and is %s is answered with %i", async (status, code) => {
  const { asked, post } = routes(status);
  const answer = await post({ input: "Go" }, { Prefer: "wait=2" });
  expect([answer.status, answer.headers.get("Preference-Applied")]).toEqual([code, "wait=2"]);
  expect(asked.map(([what]) => what)).toEqual(["start", "settled"]);
});

test("a caller that goes is not waited for any longer", async () => {
  const { asked, post } = routes();
  const gone = new AbortController();
  await post({ input: "Go" }, { Prefer: "wait=300" }, gone.signal);
  const waiting = asked.at(-1)?.[2] as AbortSignal;
  expect(waiting.aborted).toBe(false);
  gone.abort();
  expect(waiting.aborted).toBe(true);
});

test.each([
  [{ files: [{ name: "a", bytes: "not base64!" }] }, 400],
  [{ files: [{ name: "a", bytes: "aGk=" }] }, 202],
  [{ files: [{ name: "", bytes: "aGk=" }] }, 400],
  [{ files: [{ url: "file:///etc/passwd" }] }, 400],
  [{ files: [{ url: "https://a.example/x" }] }, 202],
  [{ files: Array(50).fill({ name: "a", bytes: "" }) }, 202],
  [{ files: Array(51).fill({ name: "a", bytes: "" }) }, 400],
  [{ text: "" }, 400],
])("the input %j is answered with %i", async (input, status) => {
  const { asked, post } = routes();
  expect((await post({ input })).status).toBe(status);
  expect(asked.length > 0).toBe(status === 202);
});

test.each([
  [{ budget: { usd: -0.01 } }, 400],
  [{ budget: { usd: 0, tokens: 1, steps: 1, wallMs: 1 } }, 202],
  ...["tokens", "steps", "wallMs"].map((limit) => [{ budget: { [limit]: 0 } }, 400] as const),
  [{ budget: { calls: 1 } }, 400],
  [{ agents: [] }, 400],
  [{ agents: Array(50).fill("swe") }, 202],
  [{ agents: Array(51).fill("swe") }, 400],
  [{ contextId: "" }, 400],
  [{ contextId: "c".repeat(1024) }, 202],
  [{ contextId: "c".repeat(1025) }, 400],
])("a start with %j is answered with %i", async (over, status) => {
  expect((await routes().post({ input: "Go", ...over })).status).toBe(status);
});

test("a key of more than 255 characters is refused", async () => {
  const statusOf = async (length: number) =>
    (await routes().post({ input: "Go" }, { "Idempotency-Key": "k".repeat(length) })).status;
  expect([await statusOf(255), await statusOf(256)]).toEqual([202, 400]);
});

test.each<[FlowExample, object | string]>([
  [example, example.text],
  [
    { text: "Sum up.", files: [{ name: "a.csv", text: "é" }], options: { rounds: 2 } },
    { text: "Sum up.", files: [{ name: "a.csv", bytes: "w6k=" }] },
  ],
])("the example of a flow is a request that starts it: %j", async (given, input) => {
  const { app, post, flow } = routes();
  Object.assign(flow, { example: given });
  const { flows } = (await (await app.request("/flows")).json()) as { flows: { example: { input: unknown } }[] };
  const body = flows[0]?.example ?? { input: undefined };
  expect(body.input).toEqual(input);
  expect((await post(body)).status).toBe(202);
});

test("flows are listed without agents, and a page of runs has fifty unless asked for, two hundred at most", async () => {
  const { asked, app } = routes();
  expect(await (await app.request("/flows")).json()).toEqual({
    flows: [
      {
        name: "debate",
        title: "Debate",
        description: "Argues.",
        options: { type: "object" },
        example: { input: example.text, agents: ["swe"] },
      },
    ],
  });
  for (const [query, status] of [
    ["", 200],
    ["?limit=200&contextId=c&status=failed&name=swe", 200],
    ["?q=two%20%20words&since=1970-01-01T00:00:01%2B00:00&count=0&minUsd=0&agent=swe", 200],
    ["?limit=201", 400],
    ["?limit=0", 400],
    ["?limit=x", 400],
    ["?status=odd", 400],
    ["?name=nobody", 404],
  ] as const)
    expect([query, (await app.request(`/runs${query}`)).status]).toEqual([query, status]);
  expect(asked).toEqual([
    ["list", { limit: 50, words: [] }, "ann"],
    [
      "list",
      { limit: 200, contextId: "c", statuses: ["failed"], words: [], of: expect.objectContaining({ name: "swe" }) },
      "ann",
    ],
    [
      "list",
      { limit: 50, words: ["two", "words"], updatedSince: 1_000, countAtMost: 0, minUsd: 0, agent: "swe" },
      "ann",
    ],
  ]);
});
