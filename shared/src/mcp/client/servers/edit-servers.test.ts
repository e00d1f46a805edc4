import { afterAll, expect, test } from "bun:test";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Entries, editServers } from "./edit-servers.ts";

const home = await mkdtemp(join(tmpdir(), "manyhands-edit-servers-"));
afterAll(() => rm(home, { recursive: true }));

const web = (host: string) => ({ url: `https://${host}/mcp` });
/** A file with this text, or none, its changes, and what is in it. */
async function fileWith(text?: string) {
  const file = join(home, `${crypto.randomUUID()}.json`);
  if (text !== undefined) await writeFile(file, text);
  const edit = (change: (servers: Entries) => Entries) => editServers(file, {}, change);
  return { file, edit, text: () => readFile(file, "utf8").catch(() => undefined) };
}

test("a file is made if there is none, keeps what else is in it, and takes changes that come together one after another", async () => {
  const none = await fileWith();
  await Promise.all(["a", "b", "c"].map((name) => none.edit((servers) => ({ ...servers, [name]: web(name) }))));
  expect(JSON.parse((await none.text()) ?? "")).toEqual({ mcpServers: { a: web("a"), b: web("b"), c: web("c") } });
  const more = await fileWith(JSON.stringify({ $schema: "x", mcpServers: { a: web("a") } }));
  await more.edit(() => ({ b: web("b") }));
  expect(await more.text()).toBe(`${JSON.stringify({ $schema: "x", mcpServers: { b: web("b") } }, undefined, 2)}\n`);
});

test.each([
  ["is no JSON", "{", () => ({})],
  ["has an invalid entry", JSON.stringify({ mcpServers: { a: { url: "no address" } } }), () => ({ a: web("a") })],
  ["would get one", JSON.stringify({ mcpServers: { a: web("a") } }), () => ({ b: { url: "no address" } })],
])("a file that %s stays as it is, and that is told as a fault of the settings", async (_, text, change) => {
  const at = await fileWith(text);
  await expect(at.edit(change)).rejects.toMatchObject({ code: "config_invalid" });
  expect(await at.text()).toBe(text);
});

test("a change that cannot be made is told with its own words, and holds nobody up", async () => {
  const at = await fileWith();
  const refuse = () => {
    throw new Error("there is none");
  };
  await expect(at.edit(refuse)).rejects.toThrow("there is none");
  expect(await at.text()).toBeUndefined();
  await at.edit(() => ({ a: web("a") }));
  expect(await at.text()).toContain("https://a/mcp");
});
