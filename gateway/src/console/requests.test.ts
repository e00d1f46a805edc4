import { afterAll, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";

/**
 * What the console asks with; it is typed for browsers, and so is not imported by its path here.
 */
const load = (name: string) => import(join(import.meta.dir, "api", `${name}.ts`));

type Asked = { readonly path: string; readonly method: string; readonly token: string | null; readonly body: unknown };

/** What was asked of the gateway, and what it answers, the last answer again and again. */
const asked: (Asked & { readonly headers: Headers })[] = [];
let answers: (() => Response | Promise<Response>)[] = [];
const kept = new Map<string, string>();
const names = ["fetch", "sessionStorage", "localStorage", "document"];
const real = names.map((name) => [name, Reflect.get(globalThis, name)] as const);

const storage = {
  getItem: (key: string) => kept.get(key) ?? null,
  setItem: (key: string, value: string) => void kept.set(key, value),
};
for (const name of ["sessionStorage", "localStorage"]) Reflect.set(globalThis, name, storage);
Object.defineProperty(navigator, "languages", { value: ["en"], configurable: true });
Reflect.set(globalThis, "document", { body: { dataset: {} }, documentElement: {} });
Reflect.set(globalThis, "fetch", async (path: string, { method = "GET", headers, body, signal }: RequestInit = {}) => {
  signal?.throwIfAborted();
  // Whoever listens to changes does so as long as the page is there: a test before these may.
  if (path === "./changes") return new Promise<Response>(() => undefined);
  const sent = new Headers(headers);
  const token = sent.get("Authorization");
  asked.push({ path, method, token, body: body === undefined ? undefined : JSON.parse(String(body)), headers: sent });
  const answer = answers.length > 1 ? answers.shift() : answers[0];
  return answer?.() ?? Response.json({});
});
afterAll(() => {
  for (const [name, value] of real) Reflect.set(globalThis, name, value);
});
beforeEach(() => {
  asked.length = 0;
  answers = [];
  kept.clear();
});

const refusal = (status: number, code: string) => () => Response.json({ code, detail: `${code}.` }, { status });
const stream =
  (...blocks: string[]) =>
  () =>
    new Response(blocks.join(""));
const event = (seq: number, type: string, runId?: string) =>
  `data: ${JSON.stringify({ ...(runId !== undefined && { runId }), seq, at: "", event: { type } })}\n\n`;
const { signal } = new AbortController();

test("a token is asked for once for all who wait, kept, and asked for again if it is wrong", async () => {
  const { request, tokenQuestion } = await load("client");
  answers = [
    refusal(401, "unauthorized"),
    refusal(401, "unauthorized"),
    refusal(401, "unauthorized"),
    () => new Response(),
  ];
  const both = Promise.all([request("/a"), request("/b")]);
  const questions: boolean[] = [];
  for (const token of ["wrong", "right"]) {
    while (tokenQuestion.value === undefined) await Bun.sleep(0);
    questions.push(tokenQuestion.value.wasWrong);
    tokenQuestion.value.answer(token);
    await Bun.sleep(0);
    if (token === "wrong") while (asked.length < 3) await Bun.sleep(0);
  }
  await both;
  expect(questions).toEqual([false, true]);
  expect(kept.get("manyhands-token")).toBe("right");
  expect(asked.at(-1)?.token).toBe("Bearer right");
  expect(asked.every(({ path }) => path === "./a" || path === "./b")).toBe(true);
});

test("any other refusal is told with its code, and nobody is asked for a token", async () => {
  const { request, refusedAs, tokenQuestion } = await load("client");
  answers = [refusal(409, "run_ended")];
  const error = await request("/x").catch((refused: unknown) => refused);
  expect(error).toMatchObject({ message: "run_ended.", code: "run_ended", status: 409 });
  expect([refusedAs(error, "run_ended"), refusedAs(error, "conflict"), refusedAs(new Error("x"), "run_ended")]).toEqual(
    [...[true, false, false]],
  );
  answers = [() => new Response("<html>", { status: 502 })];
  await expect(request("/x")).rejects.toMatchObject({ code: "unknown", status: 502 });
  expect(tokenQuestion.value).toBeUndefined();
});

test("a run is followed over breaks without gap or repetition, until it ends, and no longer than it is read", async () => {
  const { followRun } = await load("follow");
  answers = [
    refusal(503, "unavailable"),
    stream(`: open\n\n${event(1, "step-started")}`, 'data: {"progress":{"type":"text-delta"}}\n\n'),
    stream(`event: error\ndata: {}\n\n${event(9, "never")}`),
    stream(event(2, "run-ended"), event(3, "never")),
  ];
  const items = await Array.fromAsync(followRun("a/b", signal) as AsyncIterable<{ kind: string; seq?: number }>);
  expect(items.flatMap(({ kind, seq }) => (kind === "event" ? [seq] : []))).toEqual([1, 2]);
  expect(items.filter(({ kind }) => kind === "progress")).toHaveLength(1);
  expect(asked.map(({ path, headers }) => [path, headers.get("Last-Event-ID")])).toEqual(
    ["0", "0", "1", "1"].map((last) => ["./runs/a%2Fb/events", last]),
  );
  answers = [refusal(404, "not_found")];
  await expect(Array.fromAsync(followRun("x", signal))).rejects.toMatchObject({ code: "not_found" });
  expect(await Array.fromAsync(followRun("x", AbortSignal.abort()))).toEqual([]);
});

test("frames are read whole wherever the stream is cut, also within a character", async () => {
  const { eventFrames } = await load("follow");
  const bytes = new TextEncoder().encode(
    'event: told\r\ndata: "ü\r\ndata: 日"\r\n\r\n: comment\n\ndata:2\n\ndata: lost',
  );
  const whole = [{ event: "told", data: '"ü\n日"' }, { data: "2" }];
  for (const size of [1, 3, bytes.length]) {
    let canceled = false;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
        controller.close();
      },
    });
    expect([size, await Array.fromAsync(eventFrames(body, 60_000))]).toEqual([size, whole]);
    const open = new ReadableStream({
      cancel() {
        canceled = true;
      },
    });
    await expect(Array.fromAsync(eventFrames(open, 5))).rejects.toThrow("fell silent");
    await Bun.sleep(0);
    expect(canceled).toBe(true);
  }
});

test("a tree goes on after the last event of each run, until every run that can be followed has ended", async () => {
  const { followTree } = await load("tree");
  const ask = (id: string, followed: boolean) =>
    `data: ${JSON.stringify({ asked: { runId: "r", askId: "a", id, name: "swe", place: "here", followed } })}\n\n`;
  answers = [
    stream('data: {"opened":"r"}\n\n', ask("t", true), ask("u", false), event(1, "x", "r"), event(4, "x", "t")),
    stream(event(2, "run-ended", "r"), event(5, "run-ended", "t")),
  ];
  const items = await Array.fromAsync(followTree("r", signal) as AsyncIterable<{ kind: string }>);
  expect(items.filter(({ kind }) => kind === "event")).toHaveLength(4);
  expect(asked.map(({ path }) => new URLSearchParams(path.split("?")[1]).get("after"))).toEqual([null, "r:1,t:4"]);
});

test("a person who hands a page back answers the question about it that was open, and no other", async () => {
  const { answerAboutPage } = await import("./state/page-question.ts");
  const open = { status: "input-required", question: "Please log in on the page.", questionEvent: 7 };
  answers = [() => Response.json(open), () => Response.json({})];
  await answerAboutPage("r", "Done.");
  expect(asked[1]).toMatchObject({
    ...{ path: "./runs/r/answer", method: "POST", body: { input: "Done.", questionEvent: 7 } },
  });
  expect(asked[1]?.headers.get("Idempotency-Key")).toMatch(/^[\da-f]{32}$/);
  for (const other of [
    { ...open, status: "running" },
    { ...open, question: undefined },
    { ...open, question: "Which colour?" },
    { ...open, approval: { id: "x" } },
  ]) {
    asked.length = 0;
    answers = [() => Response.json(other)];
    await answerAboutPage("r", "Done.");
    expect([other, asked.filter(({ method }) => method === "POST")]).toEqual([other, []]);
  }
});

test("a Stop that comes after the end is none; any other refusal of it is told", async () => {
  const { stopRun } = await load("stop-run");
  expect(await stopRun("a/b")).toBe(true);
  expect(asked[0]).toMatchObject({ path: "./runs/a%2Fb/cancel", method: "POST" });
  answers = [refusal(409, "run_ended")];
  expect(await stopRun("r")).toBe(false);
  answers = [refusal(404, "not_found")];
  await expect(stopRun("r")).rejects.toMatchObject({ code: "not_found" });
});

test("a message has its files whole, and nothing of what was left empty; too much is refused before it is sent", async () => {
  const { saidOf } = await load("said");
  const bytes = Uint8Array.from({ length: 40_000 }, (_, at) => at % 256);
  const said = await saidOf(" ", [new File([bytes], "a.bin"), new File(["x"], "b.txt", { type: "text/plain" })]);
  expect(said).not.toHaveProperty("text");
  const [first, second] = said.files as { name: string; bytes: string; mediaType?: string }[];
  expect(Buffer.from(first?.bytes ?? "", "base64").equals(Buffer.from(bytes))).toBe(true);
  expect([first?.name, first?.mediaType, second]).toEqual([
    ...["a.bin", undefined],
    { name: "b.txt", mediaType: expect.stringContaining("text/plain"), bytes: "eA==" },
  ]);
  expect(await saidOf("Go", [])).toEqual({ text: "Go" });
  await expect(saidOf("Go", [new File([new Uint8Array(7_000_001)], "big")])).rejects.toThrow();
});

test("whoever reads by a link sends its secret and no token, and reads nothing but what it shows", async () => {
  const { request, readByLink, isByLink } = await load("client");
  kept.set("manyhands-token", "own");
  await request("/runs/r");
  expect(isByLink()).toBe(false);
  readByLink("mhs_x");
  await request("/runs/r");
  answers = [refusal(401, "unauthorized")];
  await expect(request("/runs/r")).rejects.toMatchObject({ status: 401 });
  // Other tests share this module.
  readByLink(undefined);
  expect(asked.map(({ path, token }) => [path, token])).toEqual([
    ["./runs/r", "Bearer own"],
    ["./shared/runs/r", "Bearer mhs_x"],
    ["./shared/runs/r", "Bearer mhs_x"],
  ]);
});
