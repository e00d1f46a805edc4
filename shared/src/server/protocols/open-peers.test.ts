import { expect, spyOn, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentCard } from "@a2a-js/sdk";
import * as connections from "../../a2a/ask/peers.ts";
import type { Directory } from "../../a2a/delegate/directory.ts";
import * as directories from "../../a2a/delegate/directory.ts";
import type { CardPolicy } from "../../a2a/signing/card-policy.ts";
import * as keySets from "../../a2a/signing/key-sets.ts";
import { loadConfig } from "../../config/config.ts";
import { AppError } from "../../core/errors.ts";
import { silentLog } from "../../core/runs/engine.ts";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";
import { createArtifactStore } from "../../machine/workspace/artifacts/artifact-store.ts";
import { cardOf } from "../../testing/a2a/card.ts";
import { admission, openPeers } from "./open-peers.ts";

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
    MANYHANDS_PEERS_OUTSIDE_URL: "http://127.0.0.1:8/swe/outside",
    MANYHANDS_PEERS_OUTSIDE_TOKEN: "of-outside",
  };
  const config = await loadConfig({ cwd: home, env });
  const artifacts = createArtifactStore(join(home, "artifacts"));
  const asking = openPeers(["swe", "far", "plain", "outside"], config, { engine, artifacts, log: silentLog });
  try {
    const shown = async (name: string, principal = "local", url = server.url.href) =>
      (await asking?.peers.actingFor(principal).fetch({ name, url: server.url.href })(url))?.text();
    expect(await shown("swe")).toBe("Bearer long-enough local");
    expect(await shown("far")).toBe("Bearer of-far");
    // It is named by a public address, and reached at the one inside.
    expect(await shown("outside")).toBe("Bearer of-outside");
    for (const name of ["plain", "unknown"]) expect(await shown(name)).toBe("");
    for (const name of ["swe", "far"]) expect(await shown(name, "alice", other.url.href)).toBe("");
    expect(await shown("swe", "alice")).toBe("Bearer long-enough alice");
    expect(await shown("far", "alice")).toBe("Bearer of-far");
    for (const name of ["plain", "unknown"]) expect(await shown(name, "alice")).toBe("");
    expect(asking?.peers.inside("http://127.0.0.1:8/swe/artifacts/1")).toBe(`${server.url.origin}/artifacts/1`);
    expect(openPeers([], config, { engine, artifacts, log: silentLog })).toBeUndefined();
    const { swe = expect.unreachable() } = config.agents;
    const odd = openPeers(
      ["constructor"],
      { agents: { constructor: swe }, peers: {} },
      { engine, artifacts, log: silentLog },
    );
    const sent = await odd?.peers.fetch({ name: "constructor", url: swe.url })(server.url.href);
    expect(await sent?.text()).toBe("Bearer long-enough local");
    odd?.close();
    using reading = spyOn(keySets, "createKeySets");
    await admission(config, {} as never);
    expect(reading.mock.calls[0]?.[0].inside?.("http://127.0.0.1:8/swe/keys")).toBe(`${server.url.origin}/keys`);
    using connecting = spyOn(connections, "createPeers");
    using opening = spyOn(directories, "openDirectory");
    const again = openPeers(["swe", "far"], config, { engine, artifacts, log: silentLog });
    const known = connecting.mock.calls[0]?.[0].known;
    expect(known?.("far")).toMatchObject({ name: "far", url: `${server.url.origin}/far` });
    expect([known?.("plain"), known?.("swe")?.url]).toEqual([undefined, server.url.origin]);
    const directory = opening.mock.results[0]?.value as Directory;
    expect(directory.addresses.map(({ name }) => name)).toEqual(["swe", "far"]);
    using closing = spyOn(directory, "close");
    again?.close();
    expect(closing).toHaveBeenCalledTimes(1);
  } finally {
    asking?.close();
    await engine.close({ graceMs: 0 });
    await rm(home, { recursive: true });
  }
});

test("an agent is asked only if its card is admitted and wants nothing that the settings do not give", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-peers-"));
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  await using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => Response.json(card),
  });
  const bearer = {
    scheme: { $case: "httpAuthSecurityScheme", value: { description: "", scheme: "bearer", bearerFormat: "" } },
  };
  const card = AgentCard.toJSON({
    ...cardOf("Far", server.url.origin),
    securitySchemes: { token: bearer as never },
    securityRequirements: [{ schemes: { token: { list: [] } } }],
  });
  const env = {
    MANYHANDS_PEERS_KNOWN_URL: `${server.url.origin}/known`,
    MANYHANDS_PEERS_KNOWN_TOKEN: "of-known",
    MANYHANDS_PEERS_PLAIN_URL: `${server.url.origin}/plain`,
  };
  const config = await loadConfig({ cwd: home, env });
  const artifacts = createArtifactStore(join(home, "artifacts"));
  const clientOf = async (name: string, admit?: CardPolicy) => {
    const asking = openPeers(["known", "plain"], config, {
      engine,
      artifacts,
      log: silentLog,
      ...(admit && { admit }),
    });
    const address = { name, url: `${server.url.origin}/${name}` };
    const signal = AbortSignal.timeout(20_000);
    try {
      return await asking?.peers.actingFor("local").client(address, signal);
    } finally {
      asking?.close();
    }
  };
  try {
    expect(await clientOf("known")).toBeDefined();
    await expect(clientOf("plain")).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("plain cannot be asked: It requires a bearer token"),
    });
    const admit: CardPolicy = async (_, { name }) => {
      throw new AppError("forbidden", `${name} is not signed.`);
    };
    await expect(clientOf("known", admit)).rejects.toThrow("known is not signed.");
  } finally {
    await engine.close({ graceMs: 0 });
    await rm(home, { recursive: true });
  }
});
