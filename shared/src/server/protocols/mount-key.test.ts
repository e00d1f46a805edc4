import { afterAll, expect, test } from "bun:test";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keptFile } from "../../machine/workspace/own-files/kept-file.ts";
import { requireMountKey, showMountKey } from "./mount-key.ts";

const home = await mkdtemp(join(tmpdir(), "manyhands-mount-key-"));
afterAll(() => rm(home, { recursive: true }));

const path = join(home, "mcp-mount-key");
const kept = keptFile(path);
const keyInFile = async () => {
  await showMountKey(home, kept);
  return (await readFile(path, "utf8")).trim();
};

const withKey = (key?: string) =>
  new Request("http://127.0.0.1/mcp", key === undefined ? {} : { headers: { "Manyhands-Mount-Key": key } });

test("only the key of the home changes its servers; it stays the same, and only its owner reads it", async () => {
  const key = await keyInFile();
  expect(key).toMatch(/^[\w-]{43}$/);
  expect(await keyInFile()).toBe(key);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  await requireMountKey(withKey(key), kept);
  for (const other of [undefined, "", "wrong", `${key}x`, key.slice(1)])
    await expect(requireMountKey(withKey(other), kept)).rejects.toThrow("Changing the MCP servers takes the key");
});

test("a key that was replaced elsewhere is the one in the home's file from the next start on", async () => {
  const place = await mkdtemp(join(tmpdir(), "manyhands-shared-key-"));
  const shared = keptFile(join(place, "shared"));
  await showMountKey(place, shared);
  const before = await readFile(join(place, "mcp-mount-key"), "utf8");
  await shared.change(() => "another-key\n");
  await showMountKey(place, shared);
  expect([before === "another-key\n", await readFile(join(place, "mcp-mount-key"), "utf8")]).toEqual([
    false,
    "another-key\n",
  ]);
  await rm(place, { recursive: true });
});
