import { expect, spyOn, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import type { Run } from "../../core/runs/run.ts";
import { forgetRun } from "./forget-run.ts";
import type { Peers } from "./peers.ts";

const agent = { name: "swe", url: "http://swe.example/" };
const task = (taskId: string) => ({ agent, taskId });
const day = 24 * 3_600_000;

/** An agent's answer to a deletion: a status, or what asking it fails with. */
type Answer = number | Error;

/**
 * What a deletion at an agent comes to that answers so, one after the other. `thereFor` is how
 * often the deleted run is still found here.
 */
async function forget(
  ids: readonly string[],
  answers: readonly Answer[],
  { ours = true, thereFor = 0 }: { readonly ours?: boolean; readonly thereFor?: number } = {},
) {
  const asked: string[] = [];
  const slept: number[] = [];
  let now = 0;
  let left = thereFor;
  const card = { supportedInterfaces: [{ protocolBinding: "HTTP+JSON", url: "http://swe.example/rest/" }] };
  const acting = (principal: string) => ({
    at: () => agent,
    inside: (url: string) => url.replace("swe.example", "inside.example"),
    client: async () => ({ ours, card }),
    fetch:
      () =>
      async (url: string, { method = "", headers }: RequestInit) => {
        // Of another version the address would be none, and the task be taken for deleted.
        if (new Headers(headers).get("A2A-Version") !== "1.0") throw new Error("The version is missing.");
        asked.push(`${principal} ${method} ${url}`);
        const answer = answers[asked.length - 1] ?? answers.at(-1) ?? 200;
        if (answer instanceof Error) throw answer;
        return new Response(null, { status: answer });
      },
  });
  const peers = {
    ...acting("nobody"),
    actingFor: acting,
    engine: { get: async () => (left-- > 0 ? { id: "gone" } : undefined) },
  };
  const { signal } = new AbortController();
  const run = {
    principal: "ann",
    step: (_: string, work: (context: object) => Promise<unknown>) => work({ signal, now: () => now }),
    async sleep(milliseconds: number) {
      slept.push(milliseconds);
      now += milliseconds;
    },
  };
  const definition = forgetRun("manus", peers as unknown as Peers);
  const input = { runId: "gone", tasks: ids.map(task) };
  const came = (await definition.execute(run as unknown as Run, input)) as unknown as { outcome: string }[];
  return { asked, slept, outcomes: came.map(({ outcome }) => outcome) };
}

test("a task is deleted for its principal by its agent's own address", async () => {
  const { asked, outcomes } = await forget(["a/b"], [200]);
  expect(asked).toEqual(["ann DELETE http://inside.example/rest/tasks/a%2Fb"]);
  expect(outcomes).toEqual(["deleted"]);
});

test.each<[string, Answer, string]>([
  ["knows no such task", 404, "deleted"],
  ["does not allow it", 403, "kept"],
  ["deletes nothing", 405, "kept"],
  ["may not be reached", new AppError("forbidden", "no"), "kept"],
])("an agent that %s is not asked again", async (_, answer, outcome) => {
  const { asked, outcomes } = await forget(["t"], [answer]);
  expect([asked.length, outcomes]).toEqual([1, [outcome]]);
});

test("an agent that hangs is asked again later", async () => {
  using bounding = spyOn(AbortSignal, "timeout");
  await forget(["t"], [200]);
  expect(bounding.mock.calls).toEqual([[5_000]]);
});

test("an agent of another system is not asked, and keeps what it has", async () => {
  expect(await forget(["t"], [], { ours: false })).toEqual({ asked: [], slept: [], outcomes: ["kept"] });
});

test("what could not be deleted is asked for again, and nothing else, with longer and longer pauses", async () => {
  const { asked, slept, outcomes } = await forget(["a", "b"], [200, 500, new AppError("unreachable", "away"), 200]);
  expect(asked.map((one) => one.at(-1))).toEqual(["a", "b", "b", "b"]);
  expect(slept).toEqual([50, 100]);
  expect(outcomes).toEqual(["deleted", "deleted"]);
});

test("an agent that is away is given up after a day, with pauses of ten minutes at most", async () => {
  const { slept, outcomes } = await forget(["t"], [500]);
  expect(outcomes).toEqual(["kept"]);
  expect(Math.max(...slept)).toBe(600_000);
  const total = slept.reduce((sum, one) => sum + one, 0);
  expect([total > day, total < day + 2 * 600_000]).toEqual([true, true]);
});

test("nothing is deleted elsewhere before the run is deleted here, and nothing at all if it stays", async () => {
  const late = await forget(["t"], [200], { thereFor: 3 });
  expect([late.slept, late.asked.length, late.outcomes]).toEqual([[50, 100, 200], 1, ["deleted"]]);
  const stays = await forget(["t"], [200], { thereFor: Number.POSITIVE_INFINITY });
  expect([stays.asked, stays.outcomes]).toEqual([[], []]);
  // A minute is enough for a deletion.
  expect(stays.slept.reduce((sum, one) => sum + one, 0)).toBeLessThan(3 * 60_000);
});
