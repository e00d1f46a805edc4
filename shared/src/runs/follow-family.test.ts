import { heapStats } from "bun:jsc";
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Engine, FollowItem, RunRecord } from "../core/runs/engine.ts";
import { createEmbeddedEngine } from "../durable/sqlite/embedded-engine.ts";
import { createFamilies } from "./family.ts";
import { type AcceptedAsk, type FamilyDeps, followFamily } from "./follow-family.ts";

let engine: Engine;
beforeEach(() => {
  engine = createEmbeddedEngine({ path: ":memory:" });
});
afterEach(() => engine.close({ graceMs: 0 }));

const request = { kind: "k", input: null, principal: "ann", contextId: "c" };
const told = (n: number) => ({ type: "notice-given", kind: "budget", text: `${n}` });
const asked = (askId: string, agent = "swe") =>
  ({ type: "agent-asked", askId, agent, url: `http://${agent}`, text: "", parts: [], hops: 1 }) as const;
const accepted = (askId: string, taskId: string, agent = "swe") =>
  ({ type: "agent-accepted", askId, agent, taskId, contextId: "there" }) as const;

/** A run with these events; it is over unless it is left open. */
async function run(events: readonly object[], { open = false, principal = "ann" } = {}): Promise<RunRecord> {
  return (await engine.start({ ...request, principal, events: events as never, canceled: !open })).run;
}

let sent = 0;
const tell = (one: RunRecord, ...events: readonly object[]) =>
  engine.deliver(one.id, "told", null, { id: `${++sent}`, events: events as never });

const patience = () => AbortSignal.timeout(10_000);

/** What a reader gets of a family, in words; it stops when `enough` says so. */
async function read(
  root: RunRecord,
  {
    after = {},
    elsewhere,
    signal = patience(),
    enough = () => false,
  }: {
    after?: Readonly<Record<string, number>>;
    elsewhere?: FamilyDeps["elsewhere"];
    signal?: AbortSignal;
    enough?: (words: readonly string[]) => boolean;
  } = {},
): Promise<string[]> {
  const words: string[] = [];
  const deps = { engine, ...(elsewhere && { elsewhere }) };
  for await (const page of followFamily(deps, root, { after: new Map(Object.entries(after)), signal })) {
    for (const item of page) {
      if (item.kind === "asked") {
        const { ask, followed } = item;
        const [here, lost] = [item.run?.id === ask.taskId ? " here" : "", followed ? "" : ", unfollowed"];
        words.push(`${ask.runId} asked ${ask.agent} at ${ask.url} for ${ask.taskId}${here}${lost}`);
      } else words.push(`${item.runId} ${item.kind === "event" ? item.seq : item.kind}`);
    }
    if (enough(words)) break;
  }
  return words;
}

const of = (words: readonly string[], { id }: RunRecord) => words.filter((word) => word.startsWith(id));

test("a family is followed whole: each run in order, those that were asked from the first event, until all have ended", async () => {
  const child = await run([told(1)], { open: true });
  const grandchild = await run([told(1), told(2)]);
  const root = await run([asked("a"), accepted("a", child.id)], { open: true });
  const reading = read(root);
  await tell(child, asked("b", "far"), accepted("b", grandchild.id, "far"), told(2));
  await engine.cancel(root.id);
  await tell(child, told(3));
  await engine.cancel(child.id);
  const words = await reading;
  expect(of(words, root)).toEqual([
    `${root.id} 1`,
    `${root.id} asked swe at http://swe for ${child.id} here`,
    `${root.id} 2`,
    `${root.id} 3`,
  ]);
  expect(of(words, child)).toEqual([
    ...[1, 2].map((n) => `${child.id} ${n}`),
    `${child.id} asked far at http://far for ${grandchild.id} here`,
    ...[3, 4, 5, 6].map((n) => `${child.id} ${n}`),
  ]);
  expect(of(words, grandchild)).toEqual([1, 2, 3].map((n) => `${grandchild.id} ${n}`));
  expect((await createFamilies(engine).of(root)).map(({ id }) => id)).toEqual([root.id, child.id, grandchild.id]);
});

test("a reader who comes back goes on in each run where it was, also in those that were asked before its place", async () => {
  const grandchild = await run([told(1), told(2)]);
  const child = await run([asked("b"), accepted("b", grandchild.id), told(1)]);
  // It asked for one of the same principal, which this family has nothing to do with.
  const stranger = await run([asked("x"), accepted("x", (await run([told(1)])).id)]);
  const root = await run([asked("a"), accepted("a", child.id), told(1)]);
  const after = { [grandchild.id]: 1, [child.id]: 2, [root.id]: 3, [stranger.id]: 2, gone: 5 };
  const words = await read(root, { after });
  expect(words.toSorted()).toEqual(
    [`${root.id} 4`, `${child.id} 3`, `${child.id} 4`, `${grandchild.id} 2`, `${grandchild.id} 3`].toSorted(),
  );
  // Of what was asked behind its place it is told, and has that from the beginning.
  const half = await read(root, { after: { [root.id]: 1, [child.id]: 4 } });
  expect(of(half, root)[0]).toBe(`${root.id} asked swe at http://swe for ${child.id} here`);
  expect(of(half, child)).toEqual([]);
});

test("an ask is told with its address, also where only its acceptance is behind the reader's place", async () => {
  const grandchild = await run([]);
  const child = await run([asked("z", "other"), asked("b", "far"), accepted("b", grandchild.id, "far")]);
  const root = await run([asked("a"), accepted("a", child.id)]);
  const words = await read(root, { after: { [root.id]: 1, [child.id]: 2 } });
  expect(of(words, child)[0]).toBe(`${child.id} asked far at http://far for ${grandchild.id} here`);
});

test("another principal's run is not of the family, whoever names it", async () => {
  const bobs = await run([told(1)], { principal: "bob" });
  const root = await run([asked("a"), accepted("a", bobs.id)]);
  const words = await read(root);
  expect(of(words, bobs)).toEqual([]);
  expect(of(words, root)[1]).toBe(`${root.id} asked swe at http://swe for ${bobs.id}, unfollowed`);
  expect((await createFamilies(engine).of(root)).map(({ id }) => id)).toEqual([root.id]);
  expect(await read(root, { after: { [root.id]: 3, [bobs.id]: 0 } })).toEqual([]);
  // Nor if an agent elsewhere says that its task has that id.
  const mine = await run([told(1)]);
  const asking = await run([asked("b"), accepted("b", mine.id)], { principal: "bob" });
  const misled = await run([asked("a", "far"), accepted("a", asking.id, "far")]);
  const elsewhere = async function* (): AsyncGenerator<FollowItem> {};
  expect(await read(misled, { elsewhere, after: { [misled.id]: 3, [asking.id]: 2 } })).toEqual([]);
});

test("a task elsewhere is followed there for the principal, and a failure there ends only what comes of it", async () => {
  const root = await run([asked("a", "far"), accepted("a", "t", "far"), accepted("a", "t", "far")], { open: true });
  const followed: unknown[] = [];
  const elsewhere = async function* (
    ask: AcceptedAsk,
    { principal, after, signal }: { principal: string; after: number; signal: AbortSignal },
  ): AsyncGenerator<FollowItem> {
    followed.push([ask, principal, after, signal.aborted]);
    yield { kind: "event", runId: "whatever", seq: 8, at: 0, event: told(1) };
    yield { kind: "progress", event: { type: "text-delta", text: "x" } };
    await engine.cancel(root.id);
    throw new Error("out of reach");
  };
  const words = await read(root, { elsewhere, after: { t: 7 } });
  expect(of(words, root)).toEqual([
    `${root.id} 1`,
    `${root.id} asked far at http://far for t`,
    ...[2, 3, 4].map((n) => `${root.id} ${n}`),
  ]);
  expect(words.filter((word) => word.startsWith("t "))).toEqual(["t 8", "t progress"]);
  expect(followed).toEqual([
    [{ runId: root.id, askId: "a", agent: "far", url: "http://far", taskId: "t" }, "ann", 7, false],
  ]);
});

test("what cannot be read of the run itself is the reader's failure", async () => {
  const root = await run([told(1)]);
  await engine.delete({ runIds: [root.id] });
  await expect(read(root)).rejects.toMatchObject({ code: "not_found" });
  const there = await run([told(1)]);
  const follow: Engine["follow"] = () => engine.follow(root.id, { signal: patience() });
  const deps = { engine: { ...engine, follow } };
  const reading = Array.fromAsync(followFamily(deps, there, { after: new Map(), signal: patience() }));
  await expect(reading).rejects.toMatchObject({ code: "not_found" });
});

test("who stops reading, or leaves, lets go of every run of the family", async () => {
  const child = await run([told(1)], { open: true });
  const root = await run([asked("a"), accepted("a", child.id)], { open: true });
  const stop = new AbortController();
  const waiting = read(root, { signal: stop.signal });
  await Bun.sleep(1);
  stop.abort();
  expect((await waiting).length).toBeGreaterThan(0);
  let left = 0;
  const counting: Engine["follow"] = (id, options) => {
    const { pages, ...rest } = engine.follow(id, options);
    return {
      ...rest,
      async *pages() {
        try {
          yield* pages();
        } finally {
          left++;
        }
      },
    };
  };
  for await (const page of followFamily({ engine: { ...engine, follow: counting } }, root, {
    after: new Map(),
    signal: stop.signal,
  }))
    expect(page).toEqual([]);
  const leaving = followFamily({ engine: { ...engine, follow: counting } }, root, {
    after: new Map(),
    signal: patience(),
  });
  while (!(await leaving.next()).value?.some((item) => "runId" in item && item.runId === child.id));
  left = 0;
  await leaving.return();
  await engine.cancel(child.id);
  await engine.cancel(root.id);
  for (const end = performance.now() + 5_000; left < 2 && performance.now() < end; ) await Bun.sleep(1);
  expect(left).toBe(2);
});

test("of a family without end two hundred runs are followed, and of the others it is said that they are not", async () => {
  const children = await Promise.all(Array.from({ length: 201 }, () => run([])));
  const events = children.flatMap(({ id }, n) => [asked(`${n}`), accepted(`${n}`, id)]);
  const root = await run(events);
  const words = await read(root);
  const unfollowed = words.filter((word) => word.endsWith(", unfollowed"));
  expect(unfollowed.length).toBe(2);
  // The run itself is one of the two hundred.
  expect(children.filter((child) => of(words, child).length > 0).length).toBe(199);
});

test("a family has at most five hundred runs, each once, also if they asked for one another", async () => {
  const one = await run([], { open: true });
  const other = await run([asked("a"), accepted("a", one.id)]);
  await tell(one, asked("b"), accepted("b", other.id), accepted("b", one.id));
  expect((await createFamilies(engine).of((await engine.get(one.id)) ?? one)).map(({ id }) => id)).toEqual([
    one.id,
    other.id,
  ]);
  const children = await Promise.all(Array.from({ length: 500 }, () => run([])));
  const root = await run(children.map(({ id }, n) => accepted(`${n}`, id)));
  expect(await createFamilies(engine).of(root)).toHaveLength(500);
});

test("a run that is quiet beside a talkative one costs nothing for each of its pages", async () => {
  const root = await run([asked("a"), accepted("a", "far")], { open: true });
  const pages = 20_000;
  async function* elsewhere(): AsyncGenerator<FollowItem> {
    for (let n = 0; n < pages; n++) yield { kind: "progress", event: told(n) };
  }
  const objects = () => {
    Bun.gc(true);
    return heapStats().objectCount;
  };
  let read = 0;
  let before = 0;
  for await (const page of followFamily({ engine, elsewhere }, root, { after: new Map(), signal: patience() })) {
    read += page.filter(({ kind }) => kind === "progress").length;
    if (read === pages / 2) before = objects();
    if (read === pages) break;
  }
  expect(before).toBeGreaterThan(0);
  expect(objects() - before).toBeLessThan(pages / 2);
});
