import { expect, test } from "bun:test";
import { withinTrace } from "../../../core/trace.ts";
import type { Egress } from "../../../machine/egress/egress.ts";
import type { EgressRequest, EgressResponse } from "../../../machine/egress/fetch-within.ts";
import { httpFetch, messageBound } from "./http-fetch.ts";

/** How many bytes of these pieces pass a bound of 20; the others are too many for one message. */
async function passed(...pieces: readonly string[]): Promise<number | "too_large"> {
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });
  try {
    return (await new Response(stream.pipeThrough(messageBound(20))).bytes()).length;
  } catch (error) {
    return (error as { code: "too_large" }).code;
  }
}
const x = (n: number) => "x".repeat(n);
const each = (text: string) => [...text];

test.each<[string, readonly string[], number | "too_large"]>([
  ["exactly as many bytes", [x(20)], 20],
  ["one more", [x(21)], "too_large"],
  ["one more in a second piece", [x(20), "x"], "too_large"],
  ["one more in a second line", [`${x(10)}\n${x(10)}`], "too_large"],
  ["lines of one message that fit", [`${x(10)}\n${x(9)}`], 20],
  ["two messages that fit", [`${x(18)}\n\n${x(20)}`], 40],
  ["two that fit, with the empty line in two pieces", [`${x(18)}\n`, `\n${x(20)}`], 40],
  ["two that fit, with carriage returns", [`${x(17)}\r\n\r\n${x(20)}`], 41],
  ["the same, byte by byte", each(`${x(17)}\r\n\r\n${x(20)}`), 41],
  ["a second message that is too long", [`${x(5)}\n\n${x(21)}`], "too_large"],
  ["the same, byte by byte", each(`${x(5)}\r\n\r\n${x(21)}`), "too_large"],
  ["a message that is too long and ends in its piece", [`${x(21)}\n\nx`], "too_large"],
  ["a line of one byte, which is no empty line", [`${x(15)}\nx\n${x(5)}`], "too_large"],
  ["a piece that begins with a line's end after a letter", [`${x(15)}`, `\n${x(5)}`], "too_large"],
])("a stream with %s: %j", async (_, pieces, length) => {
  expect(await passed(...pieces)).toBe(length);
});

type Seen = { readonly url: string; readonly method: string; readonly headers: Headers; readonly body: string };

/** A server on this machine, and a policy that answers for all others. */
function places(answer: (request: Request) => Response, aside: Partial<EgressResponse> = {}) {
  const seen: Seen[] = [];
  const asked: EgressRequest[] = [];
  const bun = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { url, method, headers } = request;
      seen.push({ url, method, headers, body: await request.text() });
      return answer(request);
    },
  });
  const egress: Egress = {
    fetch: async (request) => {
      asked.push(request);
      const body = new TextEncoder().encode('{"elsewhere": true}');
      return { status: 200, headers: {}, body, ...aside } as unknown as EgressResponse;
    },
  };
  const url = new URL("/mcp", bun.url);
  const send = httpFetch({ url, egress, proxy: undefined, maxMessageBytes: 20 });
  return { url, seen, asked, send, [Symbol.dispose]: () => void bun.stop(true) };
}

test("a server's own answer keeps its status and headers, and each of its messages is bounded", async () => {
  using it = places(
    ({ url }) =>
      new Response(url.endsWith("long") ? x(21) : "short", {
        status: 409,
        statusText: "Conflict",
        headers: { "x-kind": "k" },
      }),
  );
  const answer = await it.send(it.url, { method: "POST", body: "sent", headers: { "x-mine": "1" } });
  expect([answer.status, answer.statusText, answer.headers.get("x-kind"), await answer.text()]).toEqual([
    409,
    "Conflict",
    "k",
    "short",
  ]);
  expect(it.seen[0]).toMatchObject({ method: "POST", body: "sent" });
  expect(it.seen[0]?.headers.get("x-mine")).toBe("1");
  const long = await it.send(new URL("/long", it.url));
  await expect(long.text()).rejects.toMatchObject({ code: "too_large" });
  expect(it.asked).toEqual([]);
});

test.each(["mcp.invalid", "127.evil.invalid", "localhost.evil.invalid", "127-0-0-1.invalid"])(
  "%s is asked through the operator's proxy",
  async (host) => {
    using proxy = Bun.serve({ port: 0, fetch: (request) => new Response(new URL(request.url).host) });
    const url = new URL(`http://${host}/mcp`);
    const send = httpFetch({ url, egress: {} as Egress, proxy: proxy.url.href, maxMessageBytes: 99 });
    expect(await (await send(url, { signal: AbortSignal.timeout(5_000) })).text()).toBe(host);
  },
);

test("a redirect is returned and not followed, and an answer without a body has none", async () => {
  using it = places(({ url }) =>
    url.endsWith("/mcp") ? Response.redirect("/there", 307) : new Response(null, { status: 204 }),
  );
  expect((await it.send(it.url)).status).toBe(307);
  const empty = await it.send(new URL("/none", it.url));
  expect([empty.status, await empty.text()]).toEqual([204, ""]);
  expect(it.seen).toHaveLength(2);
});

test("another port of the same host is elsewhere: it is asked through the policy, within its limits", async () => {
  using it = places(() => new Response(""), { headers: { "Content-Type": "x" } });
  const elsewhere = new URL("http://127.0.0.1:9/token");
  const { signal } = new AbortController();
  const answer = await it.send(elsewhere, { method: "POST", body: "a=1", headers: { "X-Mine": "1" }, signal });
  expect(await answer.json()).toEqual({ elsewhere: true });
  expect(it.asked).toEqual([
    { url: elsewhere, headers: { "x-mine": "1" }, body: "a=1", signal, timeoutMs: 20_000, maxBytes: 2 ** 20 },
  ]);
  // Equal signals need not be the same.
  expect(it.asked[0]?.signal).toBe(signal);
  expect(it.seen).toEqual([]);
  await it.send(elsewhere);
  expect(it.asked[1]).toEqual({
    url: elsewhere,
    headers: {},
    signal: expect.any(AbortSignal),
    timeoutMs: 20_000,
    maxBytes: 2 ** 20,
  });
});

test("the same host by another scheme is elsewhere too", async () => {
  using it = places(() => new Response(""));
  const secure = new URL(it.url);
  secure.protocol = "https:";
  await it.send(secure);
  expect([it.asked.map(({ url }) => String(url)), it.seen]).toEqual([[secure.href], []]);
});

test("only a message belongs to the trace of the run that sends it, the stream beside it to none", async () => {
  using it = places(() => new Response(""));
  const traceparent = `00-${"1".repeat(32)}-${"2".repeat(16)}-01`;
  await withinTrace({ traceparent }, async () => {
    await it.send(it.url, { method: "POST", body: "{}" });
    await it.send(it.url);
  });
  expect(it.seen.map(({ headers }) => headers.get("traceparent"))).toEqual([traceparent, null]);
});

test.each(["PUT", "DELETE", "PATCH", "HEAD"])("a %s elsewhere is not made", async (method) => {
  using it = places(() => new Response(""));
  await expect(it.send("http://other.example/x", { method })).rejects.toMatchObject({ code: "forbidden" });
  expect(it.asked).toEqual([]);
});

test.each([204, 304])("an answer %i from elsewhere has no body", async (status) => {
  using it = places(() => new Response(""), { status, body: new Uint8Array() });
  expect((await it.send("http://other.example/x")).status).toBe(status);
});

test("headers of a coding that is already undone are dropped, the others kept", async () => {
  const headers = { "content-encoding": "gzip", "content-length": "3", "transfer-encoding": "chunked", "x-kept": "1" };
  using it = places(() => new Response(""), { headers });
  const answer = await it.send("http://other.example/x");
  expect(Object.fromEntries(answer.headers)).toEqual({ "x-kept": "1" });
});
