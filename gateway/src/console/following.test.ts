import { afterAll, beforeEach, expect, test } from "bun:test";
import { browserByHand, settled, until, withoutWaiting } from "../testing/browser-by-hand.ts";

const at = browserByHand();
afterAll(() => at[Symbol.dispose]());
beforeEach(() => at.reset());

const refusal = (status: number) => () => Response.json({ code: "x" }, { status });
const stream =
  (...items: readonly object[]) =>
  () =>
    new Response(items.map((item) => `data: ${JSON.stringify(item)}\n\n`).join(""));
const away = () => Promise.reject(new TypeError("The gateway is away."));
const never = () => new Promise<Response>(() => undefined);

test("a live page is watched again after a break, and until it ends or may not be seen", async () => {
  using time = withoutWaiting();
  const { openLiveStore } = await at.load("pages/run/live/live-store.ts");
  const open = { page: "open", held: false };
  const frame = { frame: "x", width: 1, height: 1 };
  const none = { page: "none", held: false };
  const phases = async (...answers: readonly (() => Response | Promise<Response>)[]) => {
    const left = [...answers];
    at.asked.length = 0;
    at.answer = () => (left.shift() ?? never)();
    const store = openLiveStore({ runId: "r", task: "t", screen: "browser" });
    const seen: string[] = [];
    const stop = store.phase.subscribe((phase: string) => seen.push(phase));
    await until(() => at.asked.length > answers.length || ["ended", "refused"].includes(seen.at(-1) ?? ""));
    await settled();
    stop();
    store.close();
    return { seen, frame: store.frame.value, asked: at.asked.length };
  };
  expect(await phases(stream(open, frame, { ...open, held: true }, open))).toEqual({
    ...{ seen: ["connecting", "watching", "held", "handed-back", "connecting"], frame, asked: 2 },
  });
  // Whoever handed it back did so also where the page is navigated after that.
  expect((await phases(stream({ ...open, held: true }, open, { ...open, url: "b" }, none))).seen).toEqual([
    ...["connecting", "held", "handed-back", "none", "connecting"],
  ]);
  expect((await phases(stream(open, frame, none))).frame).toBeUndefined();
  expect(await phases(stream(open, { ended: true }, open))).toMatchObject({
    ...{ seen: ["connecting", "watching", "ended"], asked: 1 },
  });
  expect(await phases(refusal(404))).toMatchObject({ seen: ["connecting", "refused"], asked: 1 });
  time.waits.length = 0;
  const broken = [away, refusal(503), refusal(429), () => new Response("event: error\ndata: {}\n\n")];
  expect(await phases(...broken)).toMatchObject({ seen: ["connecting"], asked: 5 });
  expect(time.waits).toEqual([1_500, 1_500, 1_500, 1_500]);
});

test("inputs that fail are told and not sent again, and those that wait are sent when the console is left", async () => {
  using time = withoutWaiting();
  const { openLiveStore } = await at.load("pages/run/live/live-store.ts");
  const gate = Promise.withResolvers<Response>();
  let answers = [never, () => gate.promise];
  at.answer = () => (answers.shift() ?? (() => Response.json({})))();
  const store = openLiveStore({ runId: "r", task: "t", screen: "browser" });
  const key = (name: string) => store.send({ type: "key", key: name });
  for (const name of ["a", "b"]) key(name);
  gate.resolve(refusal(409)());
  await settled();
  const sent = () => at.posted.map(({ body }) => (body as { inputs: readonly { key: string }[] }).inputs[0]?.key);
  expect([sent(), time.waits.includes(12_000)]).toEqual([["a"], true]);
  answers = [never];
  for (const name of ["c", "d", "e"]) key(name);
  store.close();
  expect(at.posted.map(({ body }) => body)).toMatchObject([
    { inputs: [{ key: "a" }], burst: { number: 0 } },
    { inputs: [{ key: "c" }], burst: { number: 0 } },
    { inputs: [{ key: "d" }, { key: "e" }], burst: { number: 1 } },
  ]);
  // The request outlives the page that sends it.
  expect(at.sent.at(-1)?.keepalive).toBe(true);
  // Long texts go in pieces that the gateway takes.
  at.posted.length = 0;
  answers = [never, never];
  const long = openLiveStore({ runId: "r", task: "t", screen: "browser" });
  for (const text of ["x", "y".repeat(200), "z"]) long.send({ type: "text", text });
  at.fire("pagehide");
  expect(at.posted[1]?.body).toMatchObject({ inputs: [{ text: "y".repeat(200) }, { text: "z" }] });
  long.close();
  // As many at once as the gateway takes.
  at.posted.length = 0;
  answers = [never, never];
  const many = openLiveStore({ runId: "r", task: "t", screen: "browser" });
  for (let count = 0; count < 60; count++) many.send({ type: "key", key: "a" });
  many.close();
  const counts = at.posted.map(({ body }) => (body as { inputs: readonly object[] }).inputs.length);
  expect(counts).toEqual([1, 50, 9]);
});

test("a run's page has its figures after its events and after its end, and tells why it cannot be shown", async () => {
  using _ = withoutWaiting();
  const { openRunStore } = await at.load("pages/run/run-store.ts");
  const event = (seq: number, type: string, more: object = {}) => ({
    ...{ runId: "r", seq, at: "2026-01-01T00:00:00Z", event: { type, ...more } },
  });
  const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, costUsd: 0 };
  const replied = (seq: number) => event(seq, "model-replied", { text: "x", toolCalls: [], usage, milliseconds: 1 });
  const progress = (type: string) => ({ runId: "r", progress: { type, text: "live" } });
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const start = (given: typeof controller) => {
    controller = given;
  };
  let view: () => Response | Promise<Response> = () => Response.json({ id: "r", name: "manus", status: "running" });
  at.answer = (path) => (path.includes("/tree") ? new Response(new ReadableStream({ start })) : view());
  const store = openRunStore("r");
  const tell = async (item: object) => {
    const before = at.asked.length;
    controller?.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(item)}\n\n`));
    await settled();
    await settled();
    return [at.asked.length - before, store.live.of("r").map(({ type }: { type: string }) => type)];
  };
  await settled();
  expect([at.asked.toSorted(), store.run.value?.name, store.tree.root.name]).toEqual([
    ...[["GET ./runs/r", "GET ./runs/r/tree?texts=2000"], "manus", "manus"],
  ]);
  expect(await tell(progress("text-delta"))).toEqual([0, ["text-delta"]]);
  expect(await tell(progress("tool-output"))).toEqual([0, ["text-delta", "tool-output"]]);
  const ended = { callId: "1", name: "bash", text: "", isError: false, milliseconds: 1 };
  expect(await tell(event(1, "tool-ended", ended))).toEqual([1, ["text-delta"]]);
  expect(await tell(replied(2))).toEqual([1, []]);
  await tell(progress("text-delta"));
  const version = store.version.value;
  await tell(event(3, "run-ended", { status: "completed" }));
  // Once nothing comes any more, whatever was stored last.
  view = () => Response.json({ id: "r", name: "manus", status: "completed" });
  controller?.close();
  await until(() => store.run.value?.status === "completed");
  expect([store.live.of("r"), store.version.value > version, store.problem.value]).toEqual([[], true, undefined]);
  store.close();
  // Whoever leaves the page asks for nothing more, also of what is under way.
  expect(at.sent.map(({ signal }) => signal?.aborted)).not.toContain(false);
  for (const [answer, isTold] of [
    [refusal(404), true],
    [refusal(503), false],
  ] as const) {
    view = answer;
    const other = openRunStore("r");
    await settled();
    expect([other.problem.value !== undefined]).toEqual([isTold]);
    other.close();
  }
});

test("a tree whose run has ended is whole though one elsewhere stays away, and is asked for no sooner than it may be", async () => {
  using time = withoutWaiting();
  const { followTree } = await at.load("api/tree.ts");
  const event = (seq: number, type: string, runId: string) => ({ runId, seq, at: "", event: { type } });
  const asked = { asked: { runId: "r", askId: "a", id: "t", name: "swe", place: "elsewhere", followed: true } };
  const follow = async (...answers: readonly (() => Response | Promise<Response>)[]) => {
    time.waits.length = 0;
    const left = [...answers];
    at.answer = () => (left.shift() ?? never)();
    const items = await Array.fromAsync(
      followTree("r", new AbortController().signal) as AsyncIterable<{ kind: string; connected?: boolean }>,
    );
    const connections = items.flatMap(({ kind, connected }) => (kind === "connection" ? [connected] : []));
    return [connections, [...time.waits], left.length];
  };
  const ends = stream(asked, event(1, "run-ended", "r"));
  expect(await follow(away, refusal(500), stream({ opened: "t" }, event(1, "x", "r")), ends, away, away)).toEqual([
    [false, false, true, true, false, true],
    [300, 600, 300, 300],
    1,
  ]);
  expect(await follow(stream(event(1, "run-ended", "r")))).toEqual([[true], [], 0]);
  await expect(follow(refusal(404))).rejects.toMatchObject({ status: 404 });
});

test("a run is followed again later each time while it is away, and soon after it spoke", async () => {
  using time = withoutWaiting();
  const { followRun } = await at.load("api/follow.ts");
  const event = (seq: number, type: string) => ({ seq, at: "", event: { type } });
  const left = [away, away, refusal(500), stream(event(1, "x")), ...Array(7).fill(away), stream(event(2, "run-ended"))];
  at.answer = () => (left.shift() ?? never)();
  type Item = { readonly kind: string; readonly connected?: boolean; readonly retryMs?: number };
  const items = await Array.fromAsync(followRun("r", new AbortController().signal) as AsyncIterable<Item>);
  const later = [300, 600, 1_200, 2_400, 4_800, 9_600, 10_000];
  expect(time.waits).toEqual([300, 600, 1_200, 300, ...later.slice(1), 10_000]);
  const connections = items.filter(({ kind }) => kind === "connection");
  expect(connections.flatMap(({ retryMs }) => retryMs ?? [])).toEqual(time.waits);
  expect(connections.filter(({ connected }) => connected)).toHaveLength(2);
  // Whoever leaves while it waits asks no more.
  const leaving = new AbortController();
  at.asked.length = 0;
  at.answer = away;
  for await (const { connected } of followRun("r", leaving.signal) as AsyncIterable<Item>)
    if (connected === false) leaving.abort();
  expect(at.asked).toHaveLength(1);
});
