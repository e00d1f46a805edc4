import { expect, test } from "bun:test";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { createSandbox } from "../../machine/confinement/create-sandbox.ts";
import { openShared } from "../storage/open-shared.ts";
import { checkServers, type OpenedMcp, openMcp } from "./open-mcp.ts";

test("no server's program is started in a folder that contains the home, mcp.json, the settings or the user's own folder", async () => {
  const base = await mkdtemp(join(tmpdir(), "manyhands-open-mcp-"));
  await chmod(base, 0o755);
  const folder = (name: string) => join(base, name);
  await Promise.all(["home", "entries", "settings"].map((name) => mkdir(folder(name))));
  await writeFile(join(folder("settings"), "manyhands.toml"), "");
  const places = { home: folder("home"), entries: folder("entries"), settings: folder("settings"), own: homedir() };
  const entry = (read: string) => ({ command: "true", read: [read] });
  const mcpServers = Object.fromEntries(Object.entries(places).map(([name, place]) => [name, entry(place)]));
  const file = join(folder("entries"), "mcp.json");
  await writeFile(file, JSON.stringify({ mcpServers }));
  const sandbox = await createSandbox({ mode: "off", folder: join(folder("home"), "mcp") });
  const quiet = { info: () => undefined, warn: () => undefined };
  const mcp = await openMcp(
    {
      home: folder("home"),
      file: join(folder("settings"), "manyhands.toml"),
      mcp: { file, named: true, patienceMs: 10_000, definitionTokens: 1000 },
      egress: { allow: [], deny: [], only: [], proxy: undefined },
    },
    {
      sandbox,
      logger: quiet,
      shared: await openShared({ home: folder("home"), engine: { kind: "embedded" } }),
      env: {},
    },
  );
  try {
    await mcp.mount("all").list("local", AbortSignal.timeout(60_000));
    const errors = mcp.health().servers.map(({ name, error }) => [name, /its read \S+ holds \S+/.test(error ?? "")]);
    expect(Object.fromEntries(errors)).toEqual({ home: true, entries: true, settings: true, own: true });
  } finally {
    await mcp.close();
    await sandbox.close();
    await rm(base, { recursive: true });
  }
});

const host = (...names: string[]) => ({ servers: async () => names.map((name) => ({ name })) }) as unknown as OpenedMcp;

test("an agent configured with an unknown server does not start", async () => {
  await checkServers("swe", "all", host());
  await checkServers("swe", ["files"], host("files", "web"));
  await checkServers("swe", [], host());
  await expect(checkServers("swe", ["files", "fiels"], host("files", "web"))).rejects.toThrow(
    '[agents.swe] mcp names "fiels", but the enabled servers are: files, web.',
  );
  await expect(checkServers("swe", ["files"], host())).rejects.toThrow("the enabled servers are: none.");
});
