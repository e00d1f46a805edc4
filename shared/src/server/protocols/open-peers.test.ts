import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../config/config.ts";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";
import { createArtifactStore } from "../../machine/workspace/artifacts/artifact-store.ts";
import { openPeers } from "./open-peers.ts";

test("the server's token goes only to agents of this system, and each agent elsewhere gets its own or none", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-peers-"));
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  const fetched = ({ headers }: Request) =>
    new Response(["Authorization", "Manyhands-Principal"].flatMap((name) => headers.get(name) ?? []).join(" "));
  await using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: fetched });
  await using other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: fetched });
  const env = {
    MANYHANDS_TOKEN: "long-enough",
    SWE_URL: server.url.origin,
    MANYHANDS_AGENTS_SWE_PUBLIC_URL: "http://127.0.0.1:8/swe",
    MANYHANDS_PEERS_FAR_URL: `${server.url.origin}/far`,
    MANYHANDS_PEERS_FAR_TOKEN: "of-far",
    MANYHANDS_PEERS_PLAIN_URL: `${server.url.origin}/plain`,
  };
  const config = await loadConfig({ cwd: home, env });
  const artifacts = createArtifactStore(join(home, "artifacts"));
  const asking = openPeers(["swe", "far", "plain"], config, { engine, artifacts });
  try {
    const shown = async (name: string, principal = "local", url = server.url.href) =>
      (await asking?.peers.actingFor(principal).fetch({ name, url: server.url.href })(url))?.text();
    expect(await shown("swe")).toBe("Bearer long-enough local");
    expect(await shown("far")).toBe("Bearer of-far");
    for (const name of ["plain", "unknown"]) expect(await shown(name)).toBe("");
    for (const name of ["swe", "far"]) expect(await shown(name, "alice", other.url.href)).toBe("");
    expect(await shown("swe", "alice")).toBe("Bearer long-enough alice");
    expect(await shown("far", "alice")).toBe("Bearer of-far");
    for (const name of ["plain", "unknown"]) expect(await shown(name, "alice")).toBe("");
    expect(asking?.peers.inside("http://127.0.0.1:8/swe/artifacts/1")).toBe(`${server.url.origin}/artifacts/1`);
    expect(openPeers([], config, { engine, artifacts })).toBeUndefined();
  } finally {
    asking?.close();
    await engine.close({ graceMs: 0 });
    await rm(home, { recursive: true });
  }
});
