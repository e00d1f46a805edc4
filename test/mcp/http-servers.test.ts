import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { startEverything } from "./everything-server.ts";
import { hostForTest, variable } from "./host-for-test.ts";
import { startHttpServer } from "./http-server.ts";

test("a server of the 2026 revision: its headers, its tools, and a question that survives in the state it returned", async () => {
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

test("a server that takes its time before its first answer is waited for, with the revision it speaks", async () => {
  let isFirst = true;
  using server = startHttpServer(async () => {
    if (isFirst) {
      isFirst = false;
      await Bun.sleep(5_500);
    }
    return undefined;
  });
  await using it = await hostForTest({ web: { url: server.url } });
  expect((await it.call("web__echo", { text: "hi" })).text).toContain("echo: hi");
  expect(it.host.health().servers[0]).toMatchObject({ state: "ready", version: "2026-07-28", connects: 1 });
});

test("sound and other bytes become files, and a link that its server cannot read is named and not fetched", async () => {
  using server = startHttpServer();
  await using it = await hostForTest({ web: { url: server.url } });
  const { text } = await it.call("web__sing");
  const files = [...text.matchAll(/saved as (\S+?)\]/g)].map(([, path = ""]) => path);
  expect(files).toEqual([
    expect.stringMatching(/^mcp\/web\/sing-\w+\.wav$/),
    expect.stringMatching(/^mcp\/web\/score-\w+\.pdf$/),
  ]);
  expect(await readFile(join(it.workspace.root, files[0] ?? ""), "utf8")).toBe("la la");
  expect(text).toContain("[Resource http://169.254.169.254/song: song]");
});

test("tools that a server adds are available as soon as it says so, over the same connection", async () => {
  using server = startHttpServer();
  await using it = await hostForTest({ web: { url: server.url } });
  const names = async () => (await it.tools()).map(({ name }) => name);
  expect(await names()).not.toContain("web__bloom");
  await it.call("web__grow");
  for (const deadline = Date.now() + 60_000; Date.now() < deadline && !(await names()).includes("web__bloom"); )
    await Bun.sleep(10);
  expect((await it.call("web__bloom")).text).toContain("in full bloom");
  expect(it.host.health().servers[0]?.connects).toBe(1);
});

test("each principal has its own connection, which its tasks share", async () => {
  using server = startHttpServer();
  await using it = await hostForTest({ web: { url: server.url } });
  await Promise.all([it.tools("ann"), it.tools("ann"), it.tools("bob")]);
  for (const principal of ["ann", "bob"])
    expect(it.host.health(principal).servers.map(({ connects }) => connects)).toEqual([1]);
  expect(it.host.health().servers).toEqual([]);
});

test("an eager server is connected at start, any other when it is first needed", async () => {
  using server = startHttpServer();
  const entry = { url: server.url };
  await using it = await hostForTest({ soon: { ...entry, start: "eager" }, late: entry });
  const state = () => it.host.health().servers.map(({ name, state }) => `${name} ${state}`);
  for (const deadline = Date.now() + 60_000; Date.now() < deadline && state()[0] !== "soon ready"; )
    await Bun.sleep(10);
  expect(state()).toEqual(["soon ready"]);
  await it.tools();
  expect(state()).toEqual(["soon ready", "late ready"]);
});

test("a server elsewhere is reached through the configured proxy, one on this machine without it", async () => {
  using server = startHttpServer();
  const asked: string[] = [];
  await using proxy = await startProxy(server.url, (url) => asked.push(url));
  const [there, here] = [{ url: "http://mcp.example/mcp" }, { url: server.url }];
  await using it = await hostForTest({ there, here }, { proxy: proxy.url });
  expect((await it.call("there__echo", { text: "far" })).text).toContain("echo: far");
  expect((await it.call("here__echo", { text: "near" })).text).toContain("echo: near");
  expect(new Set(asked)).toEqual(new Set(["http://mcp.example/mcp"]));
});

/** A proxy that sends every request to one server; `asked` is called with each original target. */
async function startProxy(to: string, asked: (url: string) => void) {
  const proxy = createServer((request, response) => {
    asked(request.url ?? "");
    const { host: _, ...headers } = request.headers;
    const onward = httpRequest(to, { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}

test("an unreachable server gives one error, and is retried", async () => {
  const url = startHttpServer();
  const { url: gone } = url;
  url[Symbol.dispose]();
  await using it = await hostForTest({ web: { url: gone } });
  expect(await it.tools()).toEqual([]);
  expect(it.host.health().servers[0]).toMatchObject({ state: "failed" });
});

test("a server that has been away for some attempts is not waited for: it is said when the next one is", async () => {
  const server = startHttpServer();
  const { url } = server;
  server[Symbol.dispose]();
  await using it = await hostForTest({ web: { url } });
  const web = await it.host.open("web");
  const told: string[] = [];
  while (told.length < 6 && !told.at(-1)?.includes("next attempt"))
    await web.inspect(AbortSignal.timeout(60_000)).catch(({ message }: Error) => told.push(message));
  expect(told.at(-1)).toMatch(/The MCP server web is not there; the next attempt to reach it is in \d s\. /);
});

test.each(["sse", "streamableHttp"] as const)(
  "server-everything over %s is detected and used, with progress",
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

test.each(["sse", "streamableHttp"] as const)(
  "a restarted server over %s that lost its state is used again",
  async (kind) => {
    const first = await startEverything(kind);
    const timeout = kind === "sse" ? 3_000 : 60_000;
    await using it = await hostForTest({ every: { url: first.url, timeout } });
    const echo = () => it.call("every__echo", { message: "hello" });
    expect((await echo()).text).toContain("Echo: hello");
    await first[Symbol.asyncDispose]();
    expect((await echo()).isError).toBe(true);
    await using _ = await startEverything(kind, new URL(first.url).port);
    // A broken event stream is noticed only by its silence; a session is refused at once.
    let again = await echo();
    for (let tries = 1; kind === "sse" && again.isError && tries < 3; tries++) again = await echo();
    expect(again.text).toContain("Echo: hello");
  },
);

test("a server that disappears in the middle fails the calls until it is back", async () => {
  let down = false;
  using server = startHttpServer(() => (down ? new Response("gone", { status: 503 }) : undefined));
  await using it = await hostForTest({ web: { url: server.url } });
  expect((await it.call("web__echo", { text: "1" })).isError).toBe(false);
  down = true;
  const failed = await it.call("web__echo", { text: "2" });
  expect(failed).toMatchObject({ isError: true });
  expect(failed.text).toContain("\nThe MCP server web: ");
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

test("a redirect to another origin is not followed, and receives no header", async () => {
  using elsewhere = startHttpServer();
  using server = startHttpServer(() => Response.redirect(elsewhere.url, 307));
  await using it = await hostForTest({ web: { url: server.url, headers: { Authorization: "Bearer t" } } });
  expect(await it.tools()).toEqual([]);
  expect(elsewhere.headers).toEqual([]);
});
