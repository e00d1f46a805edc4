import { expect, test } from "bun:test";
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
