import { expect, test } from "bun:test";
import { SQL } from "bun";
import type { Json } from "../../core/json.ts";
import { intake } from "./intake.ts";

const row = {
  ...{ n: "7", id: "r", kind: "k", status: "queued", principal: "p", context_id: "c", input: "null", output: null },
  ...{ error: null, owner: null, epoch: "0", body: null, cancel_requested: false, waiting_signal: null },
  ...{ waiting_reason: null, last_event: "0", created_at: "1", updated_at: "1" },
};
const request = { id: "r", kind: "k", input: null, principal: "p", contextId: "c" };

/** Calls from outside on a database that answers so, and all that they asked and told, in order. */
function outside(answer: Json | Error, { held = [] as readonly string[], hasRoom = true } = {}) {
  const asked: [string, unknown][] = [];
  const told: unknown[] = [];
  const note =
    (name: string) =>
    (...given: unknown[]) =>
      void told.push([name, ...given]);
  const calls = intake({
    database: {
      async call(name: string, argument: unknown) {
        asked.push([name, argument]);
        if (answer instanceof Error) throw answer;
        return answer;
      },
    },
    news: { tell: note("tell") },
    executor: {
      nudge: (runId: string) => {
        if (held.includes(runId)) told.push(["nudge", runId]);
        return held.includes(runId);
      },
      cancel: note("cancel"),
    },
    dispatcher: {
      runnable: note("runnable"),
      reserve(kind: string) {
        told.push(["reserve", kind]);
        if (!hasRoom) return undefined;
        return {
          owner: "me",
          body: 3,
          begin: ({ id }: { id: string }) => told.push(["begin", id]),
          leave: note("leave"),
        };
      },
    },
  } as never);
  return { calls, asked, told };
}

test("a run is accepted for a place that was reserved, begins there if it was given to it, and is told to others if not", async () => {
  const given = outside({ answer: "created", run: { ...row, owner: "me", status: "running" } });
  expect(await given.calls.start(request)).toMatchObject({ created: true, run: { id: "r", status: "running" } });
  expect(given.asked[0]).toMatchObject(["accept_run", { id: "r", owner: "me", body: 3, input: "null", told: null }]);
  expect(given.told).toEqual([["reserve", "k"], ["begin", "r"], ["leave"]]);
  const queued = outside({ answer: "created", run: row });
  await queued.calls.start(request);
  expect(queued.told).toEqual([["reserve", "k"], ["runnable", "r"], ["leave"]]);
  const full = outside({ answer: "created", run: row }, { hasRoom: false });
  await full.calls.start(request);
  expect(full.asked[0]?.[1]).not.toHaveProperty("owner");
  expect(full.told).toEqual([
    ["reserve", "k"],
    ["runnable", "r"],
  ]);
});

test("a run that was there, is over at once or was refused begins nowhere, and its place is free again", async () => {
  const found = outside({ answer: "found", run: { ...row, owner: "me", status: "running" } });
  expect((await found.calls.start(request)).created).toBe(false);
  const conflict = outside({ answer: "conflict" });
  await expect(conflict.calls.start(request)).rejects.toMatchObject({ code: "conflict" });
  const away = outside(new Error("It is away."));
  await expect(away.calls.start(request)).rejects.toThrow("It is away.");
  for (const { told } of [found, conflict, away]) expect(told).toEqual([["reserve", "k"], ["leave"]]);
  const canceled = outside({ answer: "created", run: { ...row, status: "canceled" } });
  await canceled.calls.start({ ...request, canceled: true });
  expect([canceled.told, canceled.asked[0]?.[1]]).toEqual([[], expect.objectContaining({ canceled: true })]);
});

test("a request over a limit is told when it may come again by the database's clock, and an id that is taken is a conflict", async () => {
  const refused = async (errno: string, message: string) => {
    const error = new SQL.PostgresError(message, { errno, code: "ERR_POSTGRES_SERVER_ERROR" } as never);
    const { calls } = outside(error);
    return calls.start({ ...request, quota: { tokensPerDay: 5 } }).catch((thrown) => thrown);
  };
  const use = { day: "2026-03-01", now: Date.parse("2026-03-01T18:00:00Z"), runs: 0, tokens: 5, usd: 0 };
  expect(await refused("MH001", JSON.stringify(use))).toMatchObject({ code: "quota_exceeded", retryAfter: 21_600 });
  expect(await refused("MH002", "taken")).toMatchObject({ code: "conflict", message: "There is a run r already." });
  expect(await refused("MH009", "something else")).toMatchObject({ errno: "MH009" });
});

test("a signal that was stored is told of, and goes to the run where it is, as do those of its watchers", async () => {
  const at = outside({ answer: "stored", last: 4, signaled: ["w", "v"] }, { held: ["w"] });
  expect(await at.calls.deliver("r", "go", { a: 1 }, { ifLast: 3 })).toBe("stored");
  expect(at.asked).toEqual([
    ["deliver", { run: "r", name: "go", id: "go", payload: '{"a":1}', if_last: 3, told: null }],
  ]);
  expect(at.told).toEqual([
    ["tell", "r", { last: 4 }],
    ["nudge", "w"],
    ["runnable", "v"],
    ["runnable", "r"],
  ]);
  for (const answer of ["duplicate", "outdated"] as const) {
    const again = outside({ answer });
    expect([await again.calls.deliver("r", "go", null), again.told]).toEqual([answer, []]);
  }
  const ended = outside({ answer: "failed" });
  await expect(ended.calls.deliver("r", "go", null)).rejects.toMatchObject({ code: "run_ended" });
  const unknown = outside({ answer: "not_found" });
  await expect(unknown.calls.deliver("r", "go", null)).rejects.toMatchObject({ code: "not_found" });
});

test("who watches hears at once of what has happened already, and one of the two that is not there is named", async () => {
  const at = outside({ signaled: ["w"] }, { held: ["w"] });
  await at.calls.watch("r", { after: 2, watcher: "w", signal: "news" });
  expect([at.asked, at.told]).toEqual([
    [["watch_run", { run: "r", after: 2, watcher: "w", signal: "news" }]],
    [["nudge", "w"]],
  ]);
  const missing = outside({ missing: "w", signaled: [] });
  const watch = missing.calls.watch("r", { after: 2, watcher: "w", signal: "news" });
  await expect(watch).rejects.toMatchObject({ code: "not_found", message: "There is no run w." });
});

test("a cancellation reaches the body that is executed here, once, and a run that goes on again is handed out", async () => {
  for (const answer of ["asked", "ended"]) {
    const at = outside({ answer, last: 2, signaled: ["w"] });
    await at.calls.cancel("r");
    expect(at.told).toEqual([
      ["tell", "r", { last: 2 }],
      ["runnable", "w"],
      ["cancel", "r"],
    ]);
  }
  const again = outside({ answer: "canceled" });
  await again.calls.cancel("r");
  const waiting = outside({ answer: "waiting" });
  await waiting.calls.resume("r");
  expect([again.told, waiting.told]).toEqual([[], []]);
  for (const answer of ["completed", "failed", "canceled"]) {
    const over = outside({ answer });
    await expect(over.calls.resume("r")).rejects.toMatchObject({ code: "run_ended" });
    if (answer !== "canceled") await expect(over.calls.cancel("r")).rejects.toMatchObject({ code: "run_ended" });
  }
  const resumed = outside({ answer: "resumed", last: 5, signaled: [] });
  await resumed.calls.resume("r");
  expect(resumed.told).toEqual([
    ["tell", "r", { last: 5 }],
    ["runnable", "r"],
  ]);
});

test.each(["a\0b", "a\ud800b"])(
  "a name %j that the database cannot store is refused before it is asked",
  async (bad) => {
    const at = outside({});
    const starts = [{ id: bad }, { kind: bad }, { principal: bad }, { contextId: bad }, { dedupe: { key: bad } }];
    const refused = [
      ...[...starts, { dedupe: { key: "k", hash: bad } }].map((over) => at.calls.start({ ...request, ...over })),
      at.calls.deliver("r", bad, null),
      at.calls.deliver("r", "go", null, { id: bad }),
      at.calls.watch("r", { after: 0, watcher: "w", signal: bad }),
    ];
    for (const one of refused) await expect(one).rejects.toMatchObject({ code: "invalid_input" });
    expect([at.asked, at.told]).toEqual([[], []]);
  },
);
