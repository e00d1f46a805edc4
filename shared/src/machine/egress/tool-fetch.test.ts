import { afterAll, expect, test } from "bun:test";
import { createEgress } from "./egress.ts";
import { toolFetch } from "./tool-fetch.ts";

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request) =>
    new URL(request.url).pathname === "/silent" ? new Promise<Response>(() => undefined) : new Response("0123456789"),
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
