import { expect, test } from "bun:test";
import type { RunRecord } from "manyhands/internal/core/runs/engine";
import type { Runnables } from "manyhands/internal/runs/runnable";
import type { Runs } from "manyhands/internal/runs/runs";
import { noting, restForTest } from "../../testing/rest.ts";
import { rerunRoutes } from "./rerun-routes.ts";

const file = { type: "file", sha256: "f", name: "a.csv", mediaType: "text/csv", size: 1 };
const parts = [{ type: "text", text: "One." }, { type: "data", data: 0 }, file, { type: "text", text: "Two." }];

function routes({ kind = "echo", kept = true, input = {} as object, status = "running" } = {}) {
  const former = { id: "r1", kind, input: { message: { messageId: "m", parts }, ...input } } as unknown as RunRecord;
  const { asked, functions } = noting({ own: former, start: { id: "r2" }, settled: { id: "r2" } });
  const rest = restForTest(
    rerunRoutes({
      runs: { ...functions, view: async ({ id }: RunRecord) => ({ id, status }) } as unknown as Runs,
      runnables: {
        all: () => [],
        ofKind: (one: string) => (one === "echo" ? { name: "echo" } : undefined),
      } as unknown as Runnables,
      artifacts: { get: async () => (kept ? (new Blob(["a,b"]) as never) : undefined) },
    }),
  );
  return { ...rest, asked };
}

const again = { type: "bytes", bytes: new Uint8Array(Buffer.from("a,b")), name: "a.csv", mediaType: "text/csv" };

test("a run is started again by its caller with all that was said, or with another text before its data and files", async () => {
  const { ask, asked } = routes();
  const answer = await ask("POST", "/runs/r1/rerun", { json: {}, headers: { "Idempotency-Key": "k" } });
  const started = { runId: "r2", id: "r2", status: "running" };
  expect([answer.status, answer.headers.get("Location"), await answer.json()]).toEqual([202, "/runs/r2", started]);
  await ask("POST", "/runs/r1/rerun", { json: { text: "Three." } });
  const [own, whole, , other] = asked;
  expect([own?.slice(1), whole?.[1], whole?.[3]]).toEqual([["r1", "ann"], { name: "echo" }, "ann"]);
  expect(whole?.[2]).toEqual({ message: { messageId: "k", parts: [parts[0], parts[1], again, parts[3]] } });
  expect(other?.[2]).toMatchObject({
    message: {
      messageId: expect.stringMatching(/^[\da-f-]{36}$/),
      parts: [{ type: "text", text: "Three." }, parts[1], again],
    },
  });
  expect((await ask("POST", "/runs/r1/rerun", { json: { text: "" } })).status).toBe(400);
});

test.each([
  ["completed", 200],
  ["running", 202],
] as const)("Prefer: wait waits for the new run too; %s answers with %p", async (status, code) => {
  const { ask, asked } = routes({ status });
  const answer = await ask("POST", "/runs/r1/rerun", { json: {}, headers: { Prefer: "wait=2" } });
  expect([answer.status, answer.headers.get("Preference-Applied")]).toEqual([code, "wait=2"]);
  expect(asked.map(([name]) => name)).toEqual(["own", "start", "settled"]);
});

test("a time to wait that is not one starts nothing", async () => {
  const { ask, asked } = routes();
  expect((await ask("POST", "/runs/r1/rerun", { json: {}, headers: { Prefer: "wait=soon" } })).status).toBe(400);
  expect(asked).toEqual([]);
});

test("what came from somebody else is nobody's words the second time either; only a new text is the caller's", async () => {
  const foreign = { hops: 1, said: ["Triage it."], given: ["https://a.example/"], takenIn: ["webhook"] };
  const started = async (input: object, json: object) => {
    const { ask, asked } = routes({ input });
    await ask("POST", "/runs/r1/rerun", { json });
    const [, start = []] = asked;
    const { message: _, ...rest } = start[2] as { message: object };
    return rest;
  };
  expect(await started(foreign, {})).toEqual(foreign);
  expect(await started({ hops: 2 }, {})).toEqual({ hops: 2 });
  // Its data and files are still the other's.
  expect(await started(foreign, { text: "Mine." })).toEqual({ ...foreign, said: ["Triage it.", "Mine."] });
  const words = { message: { messageId: "m", parts: [parts[0]] } };
  expect(await started({ ...foreign, ...words }, { text: "Mine." })).toEqual({});
});

test("what cannot be run any more, or lost a file, is a conflict that says so, and nothing is started", async () => {
  for (const [over, why] of [
    [{ kind: "old" }, "Nothing here can run old any more."],
    [{ kept: false }, "Its file a.csv is no longer kept."],
  ] as const) {
    const { ask, asked } = routes(over);
    const refused = await ask("POST", "/runs/r1/rerun", { json: {} });
    expect([refused.status, ((await refused.json()) as { detail: string }).detail]).toEqual([409, why]);
    expect(asked.map(([name]) => name)).toEqual(["own"]);
  }
});
