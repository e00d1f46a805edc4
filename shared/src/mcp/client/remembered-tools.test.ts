import { expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rememberedTools } from "./remembered-tools.ts";
import type { ServerConfig } from "./servers/server-config.ts";

const server = (name: string, shown: string) => ({ name, shown }) as ServerConfig;
const definition = { name: "echo", inputSchema: { type: "object" as const } };

test("tools are remembered of a server as it was asked, not of another name, command or address", async () => {
  const folder = await mkdtemp(join(tmpdir(), "remembered-"));
  await rememberedTools(folder).write(server("web", "https://a.example"), [definition]);
  const again = rememberedTools(folder);
  expect(await again.read(server("web", "https://a.example"))).toEqual([definition]);
  expect(await again.read(server("web", "https://b.example"))).toBeUndefined();
  expect(await again.read(server("files", "https://a.example"))).toBeUndefined();
  await rm(folder, { recursive: true });
});

test("a name with a slash is no other folder, and servers are kept apart", async () => {
  const folder = await mkdtemp(join(tmpdir(), "remembered-"));
  const tools = rememberedTools(join(folder, "tools"));
  await Promise.all(["../a", "a/b", "a"].map((name) => tools.write(server(name, name), [{ ...definition, name }])));
  for (const name of ["../a", "a/b", "a"])
    expect(await tools.read(server(name, name))).toEqual([{ ...definition, name }]);
  expect([await readdir(folder), (await readdir(join(folder, "tools"))).length]).toEqual([["tools"], 3]);
  await rm(folder, { recursive: true });
});
