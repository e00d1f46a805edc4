import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openServerList } from "./server-list.ts";

const home = await mkdtemp(join(tmpdir(), "manyhands-server-list-"));
afterAll(() => rm(home, { recursive: true }));

/** A list of a file of its own with this text; none if left out. */
async function listOf(text?: string, { named = false } = {}) {
  const file = join(home, `${crypto.randomUUID()}.json`);
  const set = (next: string) => writeFile(file, next);
  if (text !== undefined) await set(text);
  const list = await openServerList({ file, named, env: { HOST: "a.example" } });
  const now = async () => (await list.now()).map((server) => ("url" in server ? server.url : server.name));
  return { file, set, list, now };
}
const entries = (servers: object) => JSON.stringify({ mcpServers: servers });
const variable = ["$", "{HOST}"].join("");
const web = (host: string, more: object = {}) => ({ url: `https://${host}/mcp`, ...more });

test("the list is what the file says now, without what it disables, with the values of the environment", async () => {
  const at = await listOf(entries({ a: web(variable), off: web("off.example", { disabled: true }) }));
  expect(await at.now()).toEqual(["https://a.example/mcp"]);
  const [one, other] = [await at.list.now(), await at.list.now()];
  // The same servers as long as nothing changes: who holds one by identity need not start it anew.
  expect(one).toBe(other);
  await at.set(entries({ b: web(`b.${variable}`), off: web("off.example", { disabled: true }) }));
  expect(await Promise.all([at.now(), at.now()])).toEqual([["https://b.a.example/mcp"], ["https://b.a.example/mcp"]]);
  await rm(at.file);
  expect(await at.now()).toEqual([]);
});

test("a mistake in the file is told and the last valid list stays, until the mistake is mended", async () => {
  const at = await listOf(entries({ a: web("a.example") }));
  expect(at.list.problem()).toBeUndefined();
  await at.set("{");
  expect(await at.now()).toEqual(["https://a.example/mcp"]);
  expect(at.list.problem()).toContain(at.file);
  expect([await at.now(), at.list.problem() !== undefined]).toEqual([["https://a.example/mcp"], true]);
  await at.set(entries({ c: web("c.example") }));
  expect([await at.now(), at.list.problem()]).toEqual([["https://c.example/mcp"], undefined]);
});

test("a file may come later, unless it was named; one that is invalid at the start is refused", async () => {
  const at = await listOf();
  expect(await at.now()).toEqual([]);
  await at.set(entries({ a: web("a.example") }));
  expect(await at.now()).toEqual(["https://a.example/mcp"]);
  await expect(listOf(undefined, { named: true })).rejects.toMatchObject({ code: "config_invalid" });
  await expect(listOf("{")).rejects.toMatchObject({ code: "config_invalid" });
});

test("a change within the same moment is noticed by the file's size, and one of the same size by the moment", async () => {
  const at = await listOf(entries({ a: web("a.example") }));
  const moment = new Date(1_000_000_000_000);
  const setAt = async (text: string, when: Date) => {
    await at.set(text);
    await utimes(at.file, when, when);
  };
  await setAt(entries({ a: web("a.example") }), moment);
  await at.now();
  await setAt(entries({ a: web("longer.example") }), moment);
  expect(await at.now()).toEqual(["https://longer.example/mcp"]);
  await setAt(entries({ a: web("langer.example") }), new Date(1_000_000_001_000));
  expect(await at.now()).toEqual(["https://langer.example/mcp"]);
});
