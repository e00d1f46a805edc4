import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mountKey, requireMountKey } from "./mcp-app.ts";

const home = await mkdtemp(join(tmpdir(), "manyhands-mount-key-"));
afterAll(() => rm(home, { recursive: true }));

const withKey = (key?: string) =>
  new Request("http://127.0.0.1/mcp", key === undefined ? {} : { headers: { "Manyhands-Mount-Key": key } });

test("only the key of the home changes its servers; it stays the same, and only its owner reads it", async () => {
  const key = await mountKey(home);
  expect(await mountKey(home)).toBe(key);
  expect((await stat(join(home, "mcp-mount-key"))).mode & 0o777).toBe(0o600);
  await requireMountKey(withKey(key), home);
  for (const other of [undefined, "", "wrong", `${key}x`, key.slice(1)])
    await expect(requireMountKey(withKey(other), home)).rejects.toThrow("Changing the MCP servers takes the key");
});
