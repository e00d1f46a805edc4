import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseServers } from "../servers/read-servers.ts";
import { isProgram } from "../servers/server-config.ts";
import { createCredentialStore } from "./credential-store.ts";

const home = await mkdtemp(join(tmpdir(), "manyhands-credentials-"));
afterAll(() => rm(home, { recursive: true }));

test("two processes that store tokens at the same time keep them all", async () => {
  const entries = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`s${n}`, { url: `https://s${n}.example` }]));
  const servers = parseServers(JSON.stringify({ mcpServers: entries }), "mcp.json", {}).filter(
    (server) => !isProgram(server),
  );
  expect(servers).toHaveLength(10);
  await Promise.all(
    servers.map((server) =>
      createCredentialStore(home).write(server, { tokens: { access_token: server.name, token_type: "bearer" } }),
    ),
  );
  const kept = await Promise.all(servers.map((server) => createCredentialStore(home).read(server)));
  expect(kept.map((one) => one?.tokens?.access_token)).toEqual(Object.keys(entries));
});
