import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keptFile } from "../../machine/workspace/own-files/kept-file.ts";
import { createPins } from "./pins.ts";
import { parseServers } from "./servers/read-servers.ts";

const home = await mkdtemp(join(tmpdir(), "manyhands-pins-"));
afterAll(() => rm(home, { recursive: true }));

const serverAt = (command: string) => {
  const [server] = parseServers(JSON.stringify({ mcpServers: { s: { command } } }), "mcp.json", {});
  if (server === undefined) throw new Error("There is no server.");
  return server;
};
const server = serverAt("one");
const tool = (name: string, over: object = {}) => ({
  name,
  description: "Reads.",
  inputSchema: { type: "object" as const, properties: { a: { type: "string" }, b: { type: "string" } } },
  ...over,
});

test("a definition first seen is approved, by any process; a change of text, schema or annotation is not", async () => {
  const file = join(home, "first.json");
  expect(await createPins(keptFile(file)).changed(server, [tool("a"), tool("b")])).toEqual(new Set());
  const later = createPins(keptFile(file));
  const reordered = {
    inputSchema: { properties: { b: { type: "string" }, a: { type: "string" } }, type: "object" as const },
  };
  expect(await later.changed(server, [tool("a", reordered), tool("b")])).toEqual(new Set());
  for (const over of [
    { description: "Reads and tells." },
    { inputSchema: { type: "object" as const } },
    { annotations: { readOnlyHint: true } },
    { title: "Reader" },
    { outputSchema: { type: "object" as const } },
  ])
    expect(await later.changed(server, [tool("a", over), tool("b"), tool("c")])).toEqual(new Set(["a"]));
  await createPins(keptFile(file)).approve(server, [tool("a", { description: "New." })]);
  expect(await later.changed(server, [tool("a", { description: "New." })])).toEqual(new Set());
});

test("a change stays unapproved, even if new tools come with it, until it is approved itself", async () => {
  const pins = createPins(keptFile(join(home, "with-new.json")));
  const [was, is, more] = [tool("a"), tool("a", { description: "Reads and tells." }), tool("c")];
  await pins.changed(server, [was]);
  for (const definitions of [[is, more], [is, more], [is]])
    expect(await pins.changed(server, definitions)).toEqual(new Set(["a"]));
  expect(await pins.approved(server, [is, more])).toEqual([more]);
  expect(await pins.approved(server, [was])).toEqual([was]);
  await pins.approve(server, [is]);
  expect(await pins.approved(server, [was, is, more])).toEqual([is]);
});

test("a tool may have a name that every object has", async () => {
  const file = join(home, "inherited.json");
  const names = ["constructor", "toString", "__proto__", "hasOwnProperty"];
  const tools = names.map((name) => tool(name));
  for (const pins of [createPins(keptFile(file)), createPins(keptFile(file))]) {
    expect(await pins.changed(server, tools)).toEqual(new Set());
    expect(await pins.approved(server, tools)).toEqual(tools);
  }
  const changed = tools.map((one) => ({ ...one, description: "Writes." }));
  expect(await createPins(keptFile(file)).changed(server, changed)).toEqual(new Set(names));
});

test("another command under the same name is another server", async () => {
  const pins = createPins(keptFile(join(home, "other.json")));
  await pins.changed(server, [tool("a")]);
  expect(await pins.changed(serverAt("two"), [tool("a", { description: "Other." })])).toEqual(new Set());
  expect(await pins.changed(serverAt("two"), [tool("a")])).toEqual(new Set(["a"]));
});

test("two processes that approve at the same time keep both approvals", async () => {
  const file = join(home, "both.json");
  const names = Array.from({ length: 10 }, (_, n) => `s${n}`);
  await Promise.all(names.map((name) => createPins(keptFile(file)).approve({ ...server, name }, [tool("a")])));
  expect(Object.keys(await Bun.file(file).json()).sort()).toEqual(names);
});

test("servers seen at the same time do not overwrite each other, and a broken file does not count as empty", async () => {
  const file = join(home, "many.json");
  const pins = createPins(keptFile(file));
  const servers = Array.from({ length: 10 }, (_, n) => ({ ...server, name: `s${n}` }));
  await Promise.all(servers.map((one) => pins.changed(one, [tool("a")])));
  expect(Object.keys(await Bun.file(file).json())).toHaveLength(10);
  await writeFile(file, "{");
  expect(createPins(keptFile(file)).changed(server, [tool("a")])).rejects.toThrow("cannot be read");
});

test("the order within a list is part of a definition, that of keys at any depth is not, and null is a value", async () => {
  const pins = createPins(keptFile(join(home, "deep.json")));
  const deep = (required: string[], preset: object | null) =>
    tool("a", { inputSchema: { type: "object", required, default: preset } });
  await pins.changed(server, [deep(["x", "y"], { p: { q: 1, r: null } })]);
  expect(await pins.changed(server, [deep(["x", "y"], { p: { r: null, q: 1 } })])).toEqual(new Set());
  expect(await pins.changed(server, [deep(["y", "x"], { p: { q: 1, r: null } })])).toEqual(new Set(["a"]));
  expect(await pins.changed(server, [deep(["x", "y"], null)])).toEqual(new Set(["a"]));
});

test("the keys of what a list holds may come in any order too", async () => {
  const choice = (one: object) => tool("a", { inputSchema: { type: "object" as const, anyOf: [one] } });
  const pins = createPins(keptFile(join(home, "lists.json")));
  await pins.changed(server, [choice({ type: "string", title: "A" })]);
  expect(await pins.changed(server, [choice({ title: "A", type: "string" })])).toEqual(new Set());
});

test("another program under the same name has nothing approved, and its tools count as new", async () => {
  const pins = createPins(keptFile(join(home, "another.json")));
  await pins.changed(server, [tool("a")]);
  expect(await pins.approved(server, [tool("a"), tool("a", { description: "New." }), tool("b")])).toEqual([tool("a")]);
  expect(await pins.approved(serverAt("two"), [tool("a")])).toEqual([]);
  expect(await pins.changed(serverAt("two"), [tool("a", { description: "New." })])).toEqual(new Set());
  expect(await pins.approved(server, [tool("a")])).toEqual([]);
});

test("approvals of several servers at the same time are all kept, and nothing is written when nothing is new", async () => {
  const pins = createPins(keptFile(join(home, "of-several.json")));
  const servers = ["s1", "s2", "s3"].map((name) => ({ ...server, name }));
  await Promise.all(servers.map((one) => pins.changed(one, [tool("a")])));
  for (const one of servers) expect(await pins.approved(one, [tool("a")])).toHaveLength(1);
  const before = await pins.version();
  await pins.changed(servers[0] ?? server, [tool("a")]);
  expect(await pins.version()).toBe(before);
});
