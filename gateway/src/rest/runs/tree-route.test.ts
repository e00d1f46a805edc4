import { expect, test } from "bun:test";
import { AppError } from "manyhands/internal/core/errors";
import type { Engine, FollowItem, RunRecord } from "manyhands/internal/core/runs/engine";
import type { RunEvent } from "manyhands/internal/core/runs/run";
import { createFamilies } from "manyhands/internal/runs/family";
import type { Runnables } from "manyhands/internal/runs/runnable";
import type { Runs } from "manyhands/internal/runs/runs";
import { restForTest } from "../../testing/rest.ts";
import { type FamilyRoutesDeps, familyRoutes } from "./family-routes.ts";

const root = { id: "root", kind: "planning", principal: "ann", lastEvent: 2 } as RunRecord;

/** The routes over a run with these events, and over one that it asked for, with those. */
function routes(
  events: Readonly<Record<string, readonly RunEvent[]>>,
  { elsewhere, fails, live }: Partial<Pick<FamilyRoutesDeps, "elsewhere">> & { fails?: Error; live?: FollowItem } = {},
) {
  const stored = (runId: string) =>
    (events[runId] ?? []).map((event, at) => ({ kind: "event" as const, runId, seq: at + 1, at: 0, event }));
  const signals: AbortSignal[] = [];
  const engine = {
    get: async (id: string) => (id in events ? { ...root, id, kind: "helper" } : undefined),
    events: async (id: string, after = 0, upTo = 99) => stored(id).filter(({ seq }) => seq > after && seq <= upTo),
    follow: (id: string, { after, signal }: { readonly after: number; readonly signal: AbortSignal }) => ({
      async *pages() {
        signals.push(signal);
        yield [...stored(id).filter(({ seq }) => seq > after), ...(live === undefined || id !== "root" ? [] : [live])];
        if (fails !== undefined) throw fails;
      },
    }),
  };
  const own: string[][] = [];
  const rest = restForTest(
    familyRoutes({
      runs: {
        async own(id: string, principal: string) {
          own.push([id, principal]);
          return { ...root, id };
        },
      } as unknown as Runs,
      runnables: {
        all: () => [],
        ofKind: (kind: string) => (kind === "helper" ? { name: "The helper" } : undefined),
      } as unknown as Runnables,
      engine: engine as unknown as Engine,
      families: createFamilies(engine as unknown as Engine),
      ...(elsewhere && { elsewhere }),
      heartbeatMs: 60_000,
    }),
  );
  const tree = async (query = "") => {
    const response = await rest.ask("GET", `/runs/root/tree${query}`);
    const text = await response.text();
    return text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
  };
  return { ...rest, tree, signals, own };
}

const accepted = (taskId: string): RunEvent => ({
  ...{ type: "agent-accepted", askId: "a", agent: "swe", taskId, contextId: "c" },
});
const asked: RunEvent = {
  type: "agent-asked",
  askId: "a",
  agent: "swe",
  url: "http://swe",
  text: "",
  parts: [],
  hops: 1,
};
const told = (text: string): RunEvent => ({
  ...{ type: "tool-ended", callId: "c", name: "bash", text, isError: false, milliseconds: 1 },
});

test("a tree opens with its run; a run it asked for is named as it is here, one elsewhere by its agent", async () => {
  const places: object[] = [];
  const elsewhere: FamilyRoutesDeps["elsewhere"] = async function* (ask, { principal, after }) {
    places.push({ taskId: ask.taskId, principal, after });
    yield { kind: "event", runId: ask.taskId, seq: 5, at: 0, event: told("far") };
  };
  const here = routes({ root: [asked, accepted("task")], task: [told("near")] });
  const near = await here.tree();
  expect(near[0]).toEqual({ opened: "root" });
  expect(near.filter((one) => "asked" in one)).toEqual([
    { asked: { runId: "root", askId: "a", id: "task", name: "The helper", place: "here", followed: true } },
  ]);
  expect(near.at(-1)).toMatchObject({ runId: "task", seq: 1, at: "1970-01-01T00:00:00.000Z" });
  expect(here.own).toEqual([["root", "ann"]]);
  const far = routes({ root: [asked, accepted("task")] }, { elsewhere });
  expect((await far.tree()).find((one) => "asked" in one)).toEqual({
    asked: { runId: "root", askId: "a", id: "task", name: "swe", place: "elsewhere", followed: true },
  });
  for (const after of ["?after=root:2,task:4", "?after=root:2&after=task:4"])
    expect((await far.tree(after)).slice(1)).toMatchObject([{ runId: "task", seq: 5 }]);
  expect(places).toEqual([0, 4, 4].map((after) => ({ taskId: "task", principal: "ann", after })));
  const nobody = await routes({ root: [asked, accepted("task")] }).tree();
  expect(nobody.find((one) => "asked" in one)).toMatchObject({ asked: { place: "elsewhere", followed: false } });
});

test("live progress names its run", async () => {
  const live: FollowItem = { kind: "progress", event: { type: "text-delta", text: "x" } };
  const { tree } = routes({ root: [] }, { live });
  expect((await tree()).at(-1)).toEqual({ runId: "root", progress: { type: "text-delta", text: "x" } });
});

test("only texts that are too long are shortened, wherever they are, and only what was shortened says so", async () => {
  const data = (text: string) => ({ deep: [text, 1, null, "z"] });
  const noted: RunEvent = { type: "verdict-given", note: "", data: data("x".repeat(101)) };
  const events = [told("y".repeat(100)), noted, told(`${"x".repeat(99)}😀`)];
  const { tree } = routes({ root: events });
  const [, first, second, third] = await tree("?texts=100");
  expect(first).toEqual({ runId: "root", seq: 1, at: expect.any(String), event: told("y".repeat(100)) });
  expect(second).toMatchObject({ cut: true, event: { data: data(`${"x".repeat(100)}…`) } });
  expect(third).toMatchObject({ cut: true, event: { text: `${"x".repeat(99)}\ufffd…` } });
  const whole = (await tree()).slice(1);
  expect(whole.map(({ event, cut }) => [event.text ?? event.data, cut])).toEqual([
    ["y".repeat(100), undefined],
    [data("x".repeat(101)), undefined],
    [`${"x".repeat(99)}😀`, undefined],
  ]);
  for (const query of ["?texts=99", "?after=root", "?after=root:x", `?after=${"r:1,".repeat(4_000)}r:1`])
    expect([query.slice(0, 20), (await routes({}).ask("GET", `/runs/root/tree${query}`)).status]).toEqual([
      query.slice(0, 20),
      400,
    ]);
});

test("a reader that goes ends the following, and a failure is told without what is only ours", async () => {
  const open = routes({ root: [asked] });
  const reader = (await open.ask("GET", "/runs/root/tree")).body?.getReader();
  while (open.signals.length === 0) await reader?.read();
  await reader?.cancel();
  expect(open.signals.map(({ aborted }) => aborted)).toEqual([true]);
  for (const [fails, code] of [
    [new AppError("storage_unavailable", "The disk is full."), "storage_unavailable"],
    [new TypeError("a secret"), "internal"],
  ] as const) {
    const last = (await routes({ root: [asked] }, { fails }).tree()).at(-1);
    expect(last).toMatchObject({ code });
    expect(JSON.stringify(last)).not.toContain("secret");
  }
});

test("a request that is given up ends the following too", async () => {
  const gone = new AbortController();
  const open = routes({ root: [asked] });
  const reader = (await open.ask("GET", "/runs/root/tree", { signal: gone.signal })).body?.getReader();
  while (open.signals.length === 0) await reader?.read();
  gone.abort();
  expect(open.signals.map(({ aborted }) => aborted)).toEqual([true]);
});

test("one event is read in full, in the caller's name, and nothing beside it", async () => {
  const { ask, own } = routes({ r1: [told("one"), told("two"), told("three")] });
  const answer = await ask("GET", "/runs/r1/events/2");
  expect(await answer.json()).toEqual({ seq: 2, at: "1970-01-01T00:00:00.000Z", event: told("two") as never });
  const statuses = ["4", "0", "x"].map(async (seq) => (await ask("GET", `/runs/r1/events/${seq}`)).status);
  expect(await Promise.all(statuses)).toEqual([404, 400, 400]);
  expect((await ask("GET", "/runs/r1/events/2/request")).status).toBe(404);
  expect((await ask("GET", "/runs/r1/export")).status).toBe(200);
  expect(own).toEqual(Array(4).fill(["r1", "ann"]));
});

test("an export is a file named after its run, whose name leads nowhere", async () => {
  const { ask } = routes({ "a/b": [told("one")] });
  const response = await ask("GET", "/runs/a%2Fb/export");
  expect(response.headers.get("Content-Disposition")).toBe('attachment; filename="run-a%2Fb.jsonl"');
  expect(response.headers.get("Content-Type")).toBe("application/x-ndjson");
});
