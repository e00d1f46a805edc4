import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
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
