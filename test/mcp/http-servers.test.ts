import { expect, test } from "bun:test";
import { startEverything } from "./everything-server.ts";
import { hostForTest, variable } from "./host-for-test.ts";
import { startHttpServer } from "./http-server.ts";

test("a server of the 2026 revision: its headers, its tools, and a question that survives in what it gave us to bring back", async () => {
  using server = startHttpServer();
  await using it = await hostForTest(
    { web: { url: server.url, headers: { Authorization: `Bearer ${variable("WEB_TOKEN")}` } } },
    { env: { WEB_TOKEN: "t-9" } },
  );
  expect((await it.call("web__echo", { text: "hi" })).text).toContain("echo: hi");
  expect(it.host.health().servers[0]).toMatchObject({ state: "ready", version: "2026-07-28" });
  expect(server.headers.every((one) => one.get("authorization") === "Bearer t-9")).toBe(true);
  const asked = await it.call("web__deploy");
  expect(asked.asks?.question).toContain("> Deploy to production?");
  const state = JSON.parse(JSON.stringify(asked.asks?.state));
  const done = await it.call("web__deploy", {}, { answer: { text: "yes", state } });
  expect(done.text).toContain("deployed: true, state-1");
});

test("a server that is not there costs a sentence, and is tried again", async () => {
  const url = startHttpServer();
  const { url: gone } = url;
  url[Symbol.dispose]();
  await using it = await hostForTest({ web: { url: gone } });
  expect(await it.tools()).toEqual([]);
  expect(it.host.health().servers[0]).toMatchObject({ state: "failed" });
});

test.each(["sse", "streamableHttp"] as const)(
  "server-everything over %s is found out and used, with progress",
  async (kind) => {
    await using everything = await startEverything(kind);
    await using it = await hostForTest({ every: { url: everything.url } });
    expect((await it.call("every__echo", { message: "hello" })).text).toContain("Echo: hello");
    const shown: string[] = [];
    const input = { duration: 0.4, steps: 2 };
    await it.call("every__trigger-long-running-operation", input, { progress: (line) => shown.push(line) });
    expect(shown.join("")).toContain("1/2");
  },
);

test("a server that goes away in the middle costs the calls until it is back", async () => {
  let down = false;
  using server = startHttpServer(() => (down ? new Response("gone", { status: 503 }) : undefined));
  await using it = await hostForTest({ web: { url: server.url } });
  expect((await it.call("web__echo", { text: "1" })).isError).toBe(false);
  down = true;
  const failed = await it.call("web__echo", { text: "2" });
  expect(failed).toMatchObject({ isError: true });
  expect(failed.text).toStartWith("The MCP server web: ");
  down = false;
  expect((await it.call("web__echo", { text: "3" })).text).toContain("echo: 3");
});

test("a message that is too long is not read to its end", async () => {
  let sent = 0;
  using server = startHttpServer(async (request) => {
    if (!(await request.clone().text()).includes('"big"')) return undefined;
    const chunk = new TextEncoder().encode("x".repeat(2 ** 20));
    const body = new ReadableStream({
      pull(controller) {
        sent += chunk.length;
        if (sent > 60 * 2 ** 20) controller.close();
        else controller.enqueue(chunk);
      },
    });
    return new Response(body, { headers: { "content-type": "application/json" } });
  });
  await using it = await hostForTest({ web: { url: server.url } });
  expect((await it.call("web__echo", { text: "big" })).text).toContain("a message of more than 10 MB");
  expect(sent).toBeLessThan(40 * 2 ** 20);
});

test("a redirect to another place is not followed, and takes no header along", async () => {
  using elsewhere = startHttpServer();
  using server = startHttpServer(() => Response.redirect(elsewhere.url, 307));
  await using it = await hostForTest({ web: { url: server.url, headers: { Authorization: "Bearer t" } } });
  expect(await it.tools()).toEqual([]);
  expect(elsewhere.headers).toEqual([]);
});
