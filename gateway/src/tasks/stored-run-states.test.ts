import { expect, test } from "bun:test";
import type { Engine, ListFilter, RunRecord } from "manyhands/internal/core/runs/engine";
import type { RunEvent } from "manyhands/internal/core/runs/run";
import { storedRuns } from "./stored-runs.ts";

const signal = AbortSignal.timeout(60_000);
const run = (over: Partial<RunRecord> = {}): RunRecord => ({
  id: "r",
  kind: "swe",
  status: "running",
  principal: "p",
  contextId: "c",
  input: { message: { parts: [{ type: "data" }, { type: "text", text: "paint it" }, { type: "text", text: "red" }] } },
  lastEvent: 0,
  createdAt: 1,
  updatedAt: 2,
  ...over,
});

/** The runs of a store that has these, with the events of each. */
function stored(
  runs: readonly RunRecord[],
  { kind = undefined as string | undefined, events = [] as readonly RunEvent[] } = {},
) {
  const asked: ListFilter[] = [];
  const resumed: string[] = [];
  const engine = {
    get: async (id: string) => runs.find((one) => one.id === id),
    async list(filter: ListFilter) {
      asked.push(filter);
      const from = Number(filter.cursor ?? 0);
      const next = from + filter.limit;
      return {
        runs: runs.slice(from, next),
        total: runs.length,
        ...(next < runs.length && { nextCursor: String(next) }),
      };
    },
    events: async (runId: string, after = 0) =>
      events.map((event, at) => ({ runId, seq: at + 1, at: at + 10, event })).slice(after),
    resume: async (id: string) => void resumed.push(id),
  } as unknown as Engine;
  const artifacts = { get: async (sha256: string) => (sha256 === "there" ? new Blob(["hi"]) : undefined) };
  return { asked, resumed, runs: storedRuns(engine, artifacts as never, kind) };
}

test.each<readonly [Partial<RunRecord>, string]>([
  [{ status: "queued" }, "submitted"],
  [{ status: "running" }, "working"],
  [{ status: "waiting" }, "working"],
  [{ status: "paused" }, "paused"],
  [{ status: "completed" }, "completed"],
  [{ status: "canceled" }, "canceled"],
  [{ status: "failed" }, "failed"],
  [{ status: "failed", error: { code: "stuck", message: "x" } }, "failed"],
  [{ status: "failed", error: { code: "rejected", message: "x" } }, "rejected"],
  [{ status: "completed", error: { code: "rejected", message: "x" } }, "completed"],
])("a stored run with %j is shown as %s", async (over, state) => {
  const [listed] = await stored([run(over)]).runs.list({ limit: 1, signal });
  expect(listed).toEqual({
    id: "r",
    of: "swe",
    contextId: "c",
    state: state as never,
    updatedAt: 2,
    title: "paint it",
  });
});

test("what sees to something beside tasks is no run of anybody, and of one kind only its own are found", async () => {
  const others = [
    run({ id: "push", kind: "swe/push" }),
    run({ id: "flow", kind: "debate" }),
    run({ id: "handed", kind: "agent:swe" }),
  ];
  const all = stored([run(), ...others]);
  expect((await all.runs.list({ limit: 9, signal })).map(({ id, of }) => [id, of])).toEqual([
    ["r", "swe"],
    ["flow", "debate"],
    ["handed", "swe"],
  ]);
  expect(await Promise.all(["r", "push", "none"].map((id) => all.runs.kindOf(id)))).toEqual([
    "swe",
    undefined,
    undefined,
  ]);
  await expect(Array.fromAsync(all.runs.show("push"))).rejects.toMatchObject({ code: "not_found" });
  const own = stored([run(), ...others], { kind: "swe" });
  for (const id of ["push", "flow", "none"])
    await expect(Array.fromAsync(own.runs.show(id))).rejects.toMatchObject({ code: "not_found" });
  expect(await Array.fromAsync(own.runs.show("r"))).toHaveLength(1);
  expect((await own.runs.list({ limit: 1, signal }))[0]).not.toHaveProperty("of");
  expect([all.asked[0], own.asked[0]]).toEqual([
    { limit: 9, asked: false },
    { limit: 1, kind: "swe" },
  ]);
});

test("a list reads on until it is full, and has no more than it was asked for", async () => {
  const ids = ["0", "1/", "2/", "3", "4", "5"];
  const many = ids.map((id) => run({ id, kind: id.endsWith("/") ? "swe/push" : "swe" }));
  const { runs, asked } = stored(many);
  expect((await runs.list({ limit: 2, signal })).map(({ id }) => id)).toEqual(["0", "3"]);
  expect(asked.map(({ cursor }) => cursor)).toEqual([undefined, "2"]);
  expect((await runs.list({ limit: 9, signal })).map(({ id }) => id)).toEqual(["0", "3", "4", "5"]);
});

test("a run is shown with its events, without pauses and what later versions wrote, and then how it stands", async () => {
  const events = [
    { type: "step-started", step: 1, maxSteps: 2 },
    { type: "run-paused" },
    { type: "run-resumed" },
    { type: "of-a-later-version" },
    { type: "tide-turned", note: "The tide turns" },
  ];
  const shown = async (over: Partial<RunRecord>) => Array.fromAsync(stored([run(over)], { events }).runs.show("r"));
  const items = await shown({ status: "failed", error: { code: "stuck", message: "It repeats itself." } });
  expect(items).toMatchObject([
    { kind: "event", seq: 1, at: 10, event: { type: "step-started" } },
    { kind: "event", seq: 5, at: 14, event: { type: "flow-told" } },
    { kind: "state", taskId: "r", contextId: "c", state: "failed", text: "It repeats itself." },
  ]);
  expect((await shown({ status: "waiting", waiting: { signal: "s", reason: "agent" } })).at(-1)).toMatchObject({
    text: "agent",
  });
  expect((await shown({})).at(-1)).not.toHaveProperty("text");
});

test("a paused run is resumed, one that is not says how it is, and files are had by their content", async () => {
  const { runs, resumed } = stored([run({ status: "paused" }), run({ id: "busy" })]);
  await runs.resume("r");
  await expect(runs.resume("busy")).rejects.toMatchObject({
    code: "conflict",
    message: "The run busy is running, not paused.",
  });
  for (const status of ["queued", "waiting", "completed", "failed", "canceled"] as const)
    await expect(stored([run({ status })]).runs.resume("r")).rejects.toMatchObject({ code: "conflict" });
  await expect(runs.resume("none")).rejects.toMatchObject({ code: "not_found" });
  expect(resumed).toEqual(["r"]);
  const file = (sha256: string) =>
    runs.file({ type: "file", sha256, name: "a.md", mediaType: "", size: 1 }, { signal });
  expect(new TextDecoder().decode(await file("there"))).toBe("hi");
  await expect(file("gone")).rejects.toThrow("The file a.md is not here any more.");
  await expect(runs.file({ type: "url", url: "http://a.example" }, { signal })).rejects.toThrow("The file of the run");
});
