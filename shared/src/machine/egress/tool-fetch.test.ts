import { afterAll, expect, test } from "bun:test";
import { createEgress, type Egress } from "./egress.ts";
import { toolFetch } from "./tool-fetch.ts";

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/silent") return new Promise<Response>(() => undefined);
    if (pathname === "/empty") return new Response(null, { status: 204 });
    if (pathname === "/same") return new Response(null, { status: 304 });
    if (pathname === "/most") return new Response(new Uint8Array(10_000_000));
    if (pathname === "/more") return new Response(new Uint8Array(10_000_001));
    if (pathname === "/gzip")
      return new Response(Bun.gzipSync(Buffer.from("squeezed")), {
        headers: { "content-encoding": "gzip", "x-own": "1" },
      });
    return new Response("0123456789");
  },
});
afterAll(() => server.stop(true));

const at = (path: string) => `http://127.0.0.1:${server.port}${path}`;
const fetch = toolFetch(createEgress({ allow: [`127.0.0.1:${server.port}`], deny: [], only: [] }));
const { signal } = new AbortController();

test("a tool gets no more bytes and waits no longer than it says", async () => {
  expect(await (await fetch(signal, at("/ten"), { maxBytes: 10 })).text()).toBe("0123456789");
  await expect(fetch(signal, at("/ten"), { maxBytes: 9 })).rejects.toMatchObject({ code: "too_large" });
  await expect(fetch(signal, at("/silent"), { timeoutMs: 50 })).rejects.toMatchObject({ code: "timeout" });
});

test("a tool that says nothing gets ten megabytes at most", async () => {
  expect((await (await fetch(signal, at("/most"))).arrayBuffer()).byteLength).toBe(10_000_000);
  await expect(fetch(signal, at("/more"))).rejects.toMatchObject({ code: "too_large" });
});

test("a tool that says nothing waits half a minute, and what it says is passed on whole", async () => {
  const asked: object[] = [];
  const egress: Egress = {
    async fetch(request) {
      asked.push(request);
      return { url: new URL(request.url), status: 200, headers: {}, body: new Uint8Array() };
    },
  };
  const said = { headers: { "x-own": "1" }, body: "{}", timeoutMs: 1, maxBytes: 2, maxRedirects: 0 };
  await toolFetch(egress)(signal, "https://a.example/");
  await toolFetch(egress)(signal, "https://a.example/", said);
  const usual = { url: "https://a.example/", signal, timeoutMs: 30_000, maxBytes: 10_000_000 };
  expect(asked).toEqual([usual, { ...usual, ...said }]);
});

test("a tool gets the body decompressed, without the headers of how it was sent, and an answer without a body", async () => {
  const response = await fetch(signal, at("/gzip"));
  expect(await response.text()).toBe("squeezed");
  expect([...response.headers.keys()].filter((name) => name.startsWith("content-"))).not.toContain("content-encoding");
  expect([response.headers.get("content-length"), response.headers.get("x-own")]).toEqual([null, "1"]);
  const empty = await fetch(signal, at("/empty"));
  expect([empty.status, empty.body]).toEqual([204, null]);
  const same = await fetch(signal, at("/same"));
  expect([same.status, same.body]).toEqual([304, null]);
});

test("without an egress a tool has no web", async () => {
  await expect(toolFetch(undefined)(signal, at("/ten"))).rejects.toMatchObject({ code: expect.any(String) });
});
