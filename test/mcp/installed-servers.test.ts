import { expect, test } from "bun:test";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Json } from "manyhands/internal/core/json";
import { fixture, hostForTest, installed } from "./host-for-test.ts";
import { playwrightServer, shop } from "./playwright-server.ts";

const everything = {
  ...installed("@modelcontextprotocol/server-everything/dist/index.js", "stdio"),
  resources: true,
  prompts: true,
};

test("server-everything: text, images, structured content, links, resources and prompts reach a model in readable form", async () => {
  await using it = await hostForTest({ every: everything });
  expect((await it.call("every__echo", { message: "hello" })).text).toContain("Echo: hello");
  const image = await it.call("every__get-tiny-image");
  expect(image.images?.[0]).toMatchObject({ type: "image", mediaType: "image/png" });
  const weather = await it.call("every__get-structured-content", { location: "Chicago" });
  expect(weather.text.match(/temperature/g)).toHaveLength(1);
  const links = (await it.call("every__get-resource-links", { count: 2 })).text;
  const [, path = ""] = /\[Resource demo:\/\/.*saved as (mcp\/every\/[^\s;\]]+)/.exec(links) ?? [];
  expect(await readFile(join(it.workspace.root, path), "utf8")).toContain("Resource");
  const resources = await it.call("every__mcp_read_resource");
  const uri = /- (demo:\/\/[^\s{]+):/.exec(resources.text)?.[1];
  expect((await it.call("every__mcp_read_resource", { uri })).text).toContain(`Resource ${uri}`);
  expect((await it.call("every__mcp_get_prompt")).text).toContain("- simple-prompt()");
  expect((await it.call("every__mcp_get_prompt", { name: "simple-prompt" })).text).toContain("user:");
  const sum = await it.call("every__get-sum", { a: "one" });
  expect(sum.isError).toBe(true);
});

test("server-everything: progress of a long operation is shown", async () => {
  await using it = await hostForTest({ every: everything });
  const shown: string[] = [];
  const input = { duration: 0.6, steps: 3 };
  const result = await it.call("every__trigger-long-running-operation", input, {
    progress: (line) => shown.push(line),
  });
  expect(result.isError).toBe(false);
  expect(shown).toContain("2/3\n");
});

test("server-filesystem writes where its entry allows it, and nowhere else", async () => {
  await using it = await hostForTest({});
  const shared = join(it.home, "shared");
  await mkdir(shared, { mode: 0o777 });
  await writeFile(join(shared, "a.txt"), "one two", { mode: 0o666 });
  await writeFile(join(it.home, "secret.txt"), "canary");
  await it.write({
    files: { ...installed("@modelcontextprotocol/server-filesystem/dist/index.js", shared, "/"), write: [shared] },
  });
  expect((await it.call("files__read_text_file", { path: join(shared, "a.txt") })).text).toContain("one two");
  const outside = await it.call("files__read_text_file", { path: join(it.home, "secret.txt") });
  expect(outside).toMatchObject({ isError: true });
  expect(outside.text).not.toContain("canary");
  expect((await it.call("files__write_file", { path: "/etc/x", content: "x" })).isError).toBe(true);
});

test("a server on the first SDK: structured results, and a question", async () => {
  await using it = await hostForTest({ v1: fixture("v1-server") });
  const sum = await it.call("v1__add", { a: 2, b: 3 });
  expect(sum.text).toContain('Structured result:\n{\n "sum": 5\n}');
  const asked = await it.call("v1__order");
  expect(asked.asks?.question).toContain('The MCP server "v1" asks');
  expect(asked.asks?.question).toContain("- kind (one of green, black)");
  const state = asked.asks?.state ?? null;
  const again = await it.call("v1__order", {}, { answer: { text: "kind: coffee", state } });
  expect(again.asks?.question).toContain('kind cannot be "coffee"');
  const done = await it.call("v1__order", {}, { answer: { text: "kind: green\ncups: 2", state } });
  expect(done.text).toContain('accept: {"kind":"green","cups":2}');
});

test("a person may think for longer than a server has time to answer, and the server has its time after that", async () => {
  await using it = await hostForTest({ v1: { ...fixture("v1-server"), timeout: 4_000 } });
  await it.call("v1__add", { a: 2, b: 3 });
  const asked = await it.call("v1__order");
  await Bun.sleep(5_000);
  const answer = { text: "kind: green", state: asked.asks?.state ?? null };
  expect((await it.call("v1__order", {}, { answer })).text).toContain('accept: {"kind":"green"}');
});

test("while a person is asked for one call of a server, its other calls go on, and what it asks then is for them", async () => {
  await using it = await hostForTest({ v1: fixture("v1-server") });
  const asked = await it.call("v1__order");
  expect(asked.asks?.question).toContain("Which tea?");
  expect((await it.call("v1__add", { a: 2, b: 3 })).text).toContain('"sum": 5');
  const other = await it.call("v1__order");
  expect(other.asks?.question).toContain("Which tea?");
  const answer = (text: string, state: Json = null) => it.call("v1__order", {}, { answer: { text, state } });
  expect((await answer("kind: green", other.asks?.state)).text).toContain('accept: {"kind":"green"}');
  expect((await answer("kind: black", asked.asks?.state)).text).toContain('accept: {"kind":"black"}');
});

test("a server's question during two of its calls is put to nobody, because it does not say for which", async () => {
  await using it = await hostForTest({ v1: fixture("v1-server") });
  const results = await Promise.all([it.call("v1__share"), it.call("v1__share")]);
  for (const { asks, text } of results) {
    expect(asks).toBeUndefined();
    expect(text).toContain("cancel: null");
    expect(text).toContain("nobody was asked");
  }
});

test("the progress that a program reports last is shown, though its result comes in the same piece", async () => {
  await using it = await hostForTest({ hasty: fixture("hasty") });
  const shown: string[] = [];
  expect((await it.call("hasty__hurry", {}, { progress: (text) => shown.push(text) })).text).toContain("done");
  expect(shown).toEqual(["1/2\n", "2/2\n"]);
});

test("@playwright/mcp operates a page in its own browser, inside the sandbox", async () => {
  await using it = await hostForTest({ page: await playwrightServer() });
  const opened = await it.call("page__browser_navigate", { url: shop });
  expect(opened.text).toContain("Shop");
  const target = /button "Buy" \[ref=(\w+)\]/.exec((await it.call("page__browser_snapshot")).text)?.[1];
  const clicked = await it.call("page__browser_click", { element: "Buy", target, ref: target });
  expect(clicked.text).toContain("Bought");
});
