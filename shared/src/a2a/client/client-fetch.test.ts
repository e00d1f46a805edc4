import { expect, test } from "bun:test";
import { withinTrace } from "../../core/trace.ts";
import { boundedFetch, type Fetch } from "./client-fetch.ts";

const bounds = { responseMs: 60_000, idleMs: 60_000, maxBytes: 10 };
const sse = { headers: { "Content-Type": "text/event-stream; charset=utf-8" } };
const url = "http://agent.example/";
const to = (answer: Fetch, over: Partial<typeof bounds> = {}, headers = {}) =>
  boundedFetch(answer, headers, { ...bounds, ...over });
const failed = (answer: Promise<unknown>) => answer.catch((error: unknown) => error);

/** A body that sends these pieces and then stays open; `left` says why its reader went. */
function open(...pieces: readonly string[]) {
  const left = Promise.withResolvers<unknown>();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
    },
    cancel: (reason) => left.resolve(reason),
  });
  return { body, left: left.promise };
}

test.each([
  [401, "unauthorized"],
  [403, "forbidden"],
  [413, "too_large"],
  [429, "rate_limited"],
  [502, "unavailable"],
  [503, "unavailable"],
  [504, "timeout"],
])("the status %i is the error %s, unless the agent says in JSON-RPC what it is", async (status, code) => {
  const wide = { maxBytes: 1_000 };
  for (const body of ["no", "", '{"jsonrpc":"2.0"}', '{"error":{"code":1}}'])
    expect(await failed(to(async () => new Response(body, { status }), wide)(url))).toMatchObject({
      code,
      message: `The agent answered with HTTP status ${status}`,
    });
  const said = '{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"No such task"}}';
  const answer = await to(async () => new Response(said, { status }), wide)(url);
  expect([answer.status, await answer.text()]).toEqual([status, said]);
});

test.each([200, 204, 400, 404, 409, 500])("an answer with status %i is passed on as it is", async (status) => {
  const body = status === 204 ? null : "x";
  const answer = await to(async () => new Response(body, { status, headers: { "X-A": "b" } }))(url);
  expect([answer.status, await answer.text(), answer.headers.get("X-A")]).toEqual([status, body ?? "", "b"]);
});

test("an answer may be as large as allowed, and one byte more is refused; a stream has no such bound", async () => {
  const sent = (count: number, more = {}) => to(async () => new Response("x".repeat(count), more))(url);
  expect(await (await sent(10)).text()).toHaveLength(10);
  expect(await failed(sent(11))).toMatchObject({ code: "too_large" });
  expect(await failed(sent(11, { status: 503 }))).toMatchObject({ code: "too_large" });
  expect(await (await sent(10, { headers: { "Content-Length": "10" } })).text()).toHaveLength(10);
  expect(await failed(sent(11, { headers: { "Content-Length": "11" } }))).toMatchObject({ code: "too_large" });
  expect(await (await sent(1_000, sse)).text()).toHaveLength(1_000);
});

test.each([
  ["packed", ["Content-Encoding: gzip"], Bun.gzipSync(Buffer.alloc(50_000))],
  ["sent in pieces", ["Transfer-Encoding: chunked"], Buffer.from(`c350\r\n${"x".repeat(50_000)}\r\n0\r\n\r\n`)],
])("an answer that is %s is refused by its own length, not by the one it says", async (_, headers, body) => {
  const length = `Content-Length: ${headers.includes("Content-Encoding: gzip") ? body.length : 5}`;
  const head = ["HTTP/1.1 200 OK", "Content-Type: application/json", length, ...headers].join("\r\n");
  const data = (socket: Bun.Socket) => void socket.end(Buffer.concat([Buffer.from(`${head}\r\n\r\n`), body]));
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data } });
  const answer = to((input, init) => fetch(input, init), { maxBytes: 5_000 })(`http://127.0.0.1:${server.port}/`);
  expect(await failed(answer)).toMatchObject({ code: "too_large" });
  server.stop(true);
});

test("a stream that falls silent ends with an error, and the agent is let go", async () => {
  const { body, left } = open("one");
  const answer = await to(async () => new Response(body, { ...sse, status: 206 }), { idleMs: 20 })(url);
  expect([answer.status, answer.headers.get("Content-Type")]).toEqual([206, sse.headers["Content-Type"]]);
  const reader = answer.body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("one");
  expect(await failed(reader?.read() ?? Promise.resolve())).toMatchObject({
    code: "timeout",
    message: "The agent fell silent in a stream",
  });
  expect(await left).toMatchObject({ code: "timeout" });
});

test("a reader that goes lets the agent go too", async () => {
  const { body, left } = open("one");
  const answer = await to(async () => new Response(body, sse))(url);
  await answer.body?.cancel("enough");
  expect(await left).toBe("enough");
});

test.each(["an answer", "the rest of it"])(
  "%s that does not come in time is a timeout, a stream's is not",
  async (what) => {
    const answer: Fetch = (_, init) =>
      what === "an answer"
        ? new Promise((_resolve, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)))
        : Promise.resolve(
            new Response(
              new ReadableStream({
                start: (controller) => init?.signal?.addEventListener("abort", () => controller.error("closed")),
              }),
            ),
          );
    expect(await failed(to(answer, { responseMs: 20 })(url))).toMatchObject({
      code: "timeout",
      message: "The agent did not answer in time",
    });
    const { body } = open("one");
    let signal: AbortSignal | null | undefined;
    const streams: Fetch = async (_, init) => {
      signal = init?.signal;
      return new Response(body, sse);
    };
    await to(streams, { responseMs: 5 })(url);
    await Bun.sleep(30);
    expect(signal?.aborted).toBe(false);
  },
);

test("a caller that aborts gets its own reason, whatever the call failed with", async () => {
  const caller = new AbortController();
  const hangs: Fetch = (_, init) =>
    new Promise((_resolve, reject) => init?.signal?.addEventListener("abort", () => reject(new Error("closed"))));
  const call = failed(to(hangs)(url, { signal: caller.signal }));
  caller.abort("enough");
  expect(await call).toBe("enough");
  const error = new Error("refused");
  expect(await failed(to(() => Promise.reject(error))(url))).toBe(error);
});

test("every call carries the client's headers beside its own, which win, and its trace, and follows no redirect", async () => {
  const asked: RequestInit[] = [];
  const answer: Fetch = async (_, init = {}) => {
    asked.push(init);
    return new Response("x");
  };
  await to(answer, {}, { "X-A": "client", "X-B": "client" })(url, { method: "POST", headers: { "X-B": "call" } });
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  await withinTrace({ traceparent }, () => to(answer)(url));
  const traces = asked.map(({ headers }) => new Headers(headers).get("traceparent"));
  expect(traces).toEqual([null, traceparent]);
  const [{ redirect, method, headers } = {}] = asked;
  expect([redirect, method]).toEqual(["error", "POST"]);
  const sent = new Headers(headers);
  expect([sent.get("x-a"), sent.get("x-b")]).toEqual(["client", "call"]);
});
