import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../config/config.ts";
import { createEmbeddedEngine } from "../durable/sqlite/embedded-engine.ts";
import { createArtifactStore } from "../machine/workspace/artifact-store.ts";
import { openPeers } from "./open-peers.ts";

test("the server's token goes only to agents of this system, and each agent elsewhere gets its own or none", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-peers-"));
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  const env = {
    MANYHANDS_TOKEN: "long-enough",
    SWE_URL: "http://127.0.0.1:9",
    MANYHANDS_AGENTS_SWE_PUBLIC_URL: "http://127.0.0.1:8/swe",
    MANYHANDS_PEERS_FAR_URL: "http://127.0.0.1:9/far",
    MANYHANDS_PEERS_FAR_TOKEN: "of-far",
    MANYHANDS_PEERS_PLAIN_URL: "http://127.0.0.1:9/plain",
  };
  const config = await loadConfig({ cwd: home, env });
  const artifacts = createArtifactStore(join(home, "artifacts"));
  const asking = openPeers(["swe", "far", "plain"], config, { engine, artifacts });
  try {
    const headers = (name: string) => asking?.peers.headers({ name, url: "" });
    expect(headers("swe")).toEqual({ Authorization: "Bearer long-enough" });
    expect(headers("far")).toEqual({ Authorization: "Bearer of-far" });
    for (const name of ["plain", "unknown"]) expect(headers(name)).toEqual({});
    expect(asking?.peers.inside("http://127.0.0.1:8/swe/artifacts/1")).toBe("http://127.0.0.1:9/artifacts/1");
    expect(openPeers([], config, { engine, artifacts })).toBeUndefined();
  } finally {
    asking?.close();
    await engine.close({ graceMs: 0 });
    await rm(home, { recursive: true });
  }
});
