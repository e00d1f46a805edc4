import { expect, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import type { Run } from "../../core/runs/run.ts";
import type { Ask, AskRequest } from "./ask.ts";
import { beginAsk, resolveAgain } from "./begin-ask.ts";
import type { Peers } from "./peers.ts";

const agent = { name: "swe", url: "http://swe.example" };
const request: AskRequest = {
  agent,
  parts: [
    { type: "text", text: "Do\nit" },
    { type: "data", data: 1 },
    { type: "text", text: "now." },
  ],
  contextId: "c",
  hops: 2,
  deadlineMs: 500,
};

/** Peers whose agent has this card, or fails so; the clock moves by what is slept. */
function paper({ name = "Swe", fails = Number.POSITIVE_INFINITY, recorded }: PaperChanges = {}) {
  let now = 1_000;
  let tries = 0;
  const [emitted, slept, journal]: [unknown[], number[], unknown[]] = [[], [], []];
  const run = {
    async step(_: string, work: (step: object) => Promise<unknown>) {
      if (recorded !== undefined) return recorded;
      journal.push(
        await work({ key: "k", signal: undefined, now: () => now, emit: (event: object) => emitted.push(event) }),
      );
      return journal.at(-1);
    },
    async sleep(ms: number) {
      slept.push(ms);
      now += ms;
    },
  } as unknown as Run;
  const card = { name, supportedInterfaces: [{ protocolVersion: "1.0" }, { protocolVersion: "0.3" }] };
  const peers = {
    bounds: { hops: 8, patienceMs: 4_000 },
    retrySignal: () => undefined,
    client: async () => {
      if (tries++ < fails && fails !== Number.POSITIVE_INFINITY) throw new AppError("unavailable", "x");
      return { card, ours: true };
    },
  } as unknown as Peers;
  return { run, peers, emitted, slept, journal, tries: () => tries };
}
type PaperChanges = { readonly name?: string; readonly fails?: number; readonly recorded?: unknown };

test("an ask is recorded with all that finds its task again, before its agent is looked up", async () => {
  const { run, peers, emitted, journal } = paper();
  const { ask, resolved } = await beginAsk(run, request, peers);
  expect(emitted).toEqual([
    {
      ...{ type: "agent-asked", askId: "k", agent: "swe", url: agent.url, text: "Do it now." },
      ...{ parts: request.parts, contextId: "c", hops: 3 },
    },
  ]);
  expect(ask).toEqual({ ...request, askId: "k", patienceMs: 4_000, endsAt: 1_500 });
  expect(resolved).toEqual({ value: { title: "Swe", ours: true, protocol: "1.0" }, at: 1_000 });
  expect(journal).toEqual([
    { askId: "k", url: agent.url, patienceMs: 4_000, startedAt: 1_000, refused: null, met: resolved },
  ]);
});

test("an ask goes on as it was recorded, whatever the settings, the clock and the agent's address are now", async () => {
  const recorded = { askId: "k", url: "http://before.example", patienceMs: 7, startedAt: 20, refused: null, met: null };
  const { run, peers } = paper({ recorded });
  const { ask, ...rest } = await beginAsk(run, request, peers);
  const before = { name: "swe", url: "http://before.example" };
  expect([ask, rest]).toEqual([{ ...request, agent: before, askId: "k", patienceMs: 7, endsAt: 520 }, {}]);
  const { deadlineMs: _, ...endless } = request;
  expect((await beginAsk(run, endless, peers)).ask.endsAt).toBeUndefined();
});

test("a task that has passed through too many agents asks none, not even for its card", async () => {
  const { run, peers, tries, emitted } = paper();
  const { refused, resolved } = await beginAsk(run, { ...request, hops: 8 }, peers);
  expect([refused?.code, resolved, tries(), emitted.length]).toEqual(["hop_limit", undefined, 0, 1]);
  expect((await beginAsk(run, { ...request, hops: 7 }, peers)).refused).toBeUndefined();
});

test.each([
  ["\u001b[31mRed\nagent", "Red agent"],
  ["x".repeat(90), `${"x".repeat(59)}…`],
  [" \n", "swe"],
])("an agent whose card calls it %j is shown in one short line, or by the name we have for it", async (name, title) => {
  const { run, peers } = paper({ name });
  expect((await beginAsk(run, request, peers)).resolved).toMatchObject({ value: { title } });
});

test.each([
  ["its own patience", 1_500, undefined, [500, 1_000]],
  ["that of any agent", undefined, undefined, [500, 1_000, 2_000, 500]],
  ["the ask's deadline", 9_000, 1_700, [500, 200]],
] as const)("an agent whose card cannot be read is tried again for %s", async (_, resolveMs, endsAt, pauses) => {
  const { run, peers, slept, tries } = paper({ fails: 99 });
  const ask = {
    ...request,
    askId: "k",
    patienceMs: 4_000,
    endsAt,
    ...(resolveMs !== undefined && { resolveMs }),
  } as Ask;
  expect(await resolveAgain(run, ask, peers)).toMatchObject({ fault: { code: "unavailable" } });
  expect([slept, tries()]).toEqual([[...pauses], pauses.length + 1]);
  const back = paper({ fails: 1 });
  expect(await resolveAgain(back.run, ask, back.peers)).toMatchObject({ value: { title: "Swe", ours: true } });
});
