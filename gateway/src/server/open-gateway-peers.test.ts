import { expect, spyOn, test } from "bun:test";
import { loadConfig } from "manyhands/internal/config/config";
import { principalHeader } from "manyhands/internal/core/caller";
import type { Engine } from "manyhands/internal/core/runs/engine";
import type { ArtifactStore } from "manyhands/internal/core/workspace";
import * as policies from "manyhands/internal/server/protocols/open-card-policy";
import { textInMemory } from "manyhands/internal/testing/durable/text-in-memory";
import type { Registry } from "../registry/registry.ts";
import { openGatewayPeers } from "./open-gateway-peers.ts";

const url = "http://127.0.0.1:4099";
const publicUrl = "https://team.example";

/** The peers of a gateway with a flow and two agents, and what they ask of its registry. */
async function peersForTest(env: Record<string, string> = {}, outside = publicUrl) {
  const config = await loadConfig({ cwd: "/", env: { MANYHANDS_TOKEN: "own-token-of-the-gateway", ...env } });
  const asked: unknown[] = [];
  const inside = (one: string) => one;
  const states: Record<string, object> = {
    swe: { name: "swe", url: "http://127.0.0.1:4098", source: "configured" },
    guest: { name: "guest", url: "http://127.0.0.1:4096", source: "registered" },
  };
  const registry = {
    get: (name: string) => states[name],
    fetch: (address: string) => {
      asked.push(["fetch", address]);
      return fetch;
    },
    isOwn: (address: string) => address === "http://127.0.0.1:4098",
    connect: (address: object, signal: AbortSignal) => {
      asked.push(["connect", address, signal]);
      return Promise.resolve({ actingFor: (principal: string) => `client of ${principal}` });
    },
    retrySignal: (address: { readonly name: string }) => {
      asked.push(["retrySignal", address.name]);
      return new AbortController().signal;
    },
  } as unknown as Registry;
  const peers = await openGatewayPeers({
    ...{ config, url, publicUrl: outside, registry, inside, pushCallbackKey: textInMemory() },
    engine: {} as Engine,
    artifacts: {} as ArtifactStore,
    flows: { get: (name) => (name === "debate" ? ({ name } as never) : undefined) },
  });
  return { peers, asked, config, inside };
}

test("agents are asked through the registry, under its breaker; our own flows are not", async () => {
  const { peers, asked } = await peersForTest();
  const swe = { name: "swe", url: "http://127.0.0.1:4098" };
  const { signal } = new AbortController();
  expect(await peers.actingFor("ann").client(swe, signal)).toBe("client of ann" as never);
  await peers.client(swe);
  peers.retrySignal(swe);
  peers.fetch(swe);
  expect(asked).toEqual([
    ["connect", swe, signal],
    ["connect", swe, expect.any(AbortSignal)],
    ["retrySignal", "swe"],
    ["fetch", "http://127.0.0.1:4098"],
  ]);
  for (const base of [url, publicUrl]) {
    const flow = { name: "debate", url: `${base}/a2a/debate` };
    expect(peers.retrySignal(flow)).toBeUndefined();
    peers.fetch(flow);
    await expect(peers.client(flow, AbortSignal.abort())).rejects.toThrow();
  }
  expect(asked).toHaveLength(4);
});

test("a flow and an agent of the settings are where they are now; a registered one stays where it was asked", async () => {
  const { peers } = await peersForTest();
  const at = (name: string) => peers.at({ name, url: "http://127.0.0.1:4097" }).url;
  expect(["debate", "swe", "guest", "nobody"].map(at)).toEqual([
    `${url}/a2a/debate`,
    "http://127.0.0.1:4098",
    "http://127.0.0.1:4097",
    "http://127.0.0.1:4097",
  ]);
});

test("how long an agent is retried is what the settings say, and agents notify a gateway that they can reach", async () => {
  using keySets = spyOn(policies, "openKeySets");
  const { peers, config, inside } = await peersForTest({ MANYHANDS_GATEWAY_PATIENCE_SECONDS: "7" });
  expect(keySets.mock.calls).toEqual([[config, inside]]);
  expect([peers.bounds.patienceMs, peers.pushCallbacks !== undefined]).toEqual([7_000, true]);
  const alone = await peersForTest({}, url);
  expect(alone.peers.pushCallbacks).toBeUndefined();
  const named = await peersForTest({ PUBLIC_URL: publicUrl }, url);
  expect(named.peers.pushCallbacks).toBeDefined();
});

test("our own flows are sent our token, here alone; they and our agents learn whose task it is, and no others", async () => {
  const sent: unknown[] = [];
  const answering = async (at: string | URL | Request, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    sent.push([String(at), headers.get("Authorization"), headers.get(principalHeader)]);
    return new Response();
  };
  const fetching = spyOn(globalThis, "fetch").mockImplementation(answering as typeof fetch);
  const { peers } = await peersForTest();
  const acting = peers.actingFor("ann");
  for (const [name, address, at] of [
    ["debate", `${url}/a2a/debate`, `${url}/a2a/debate/artifacts/x`],
    ["debate", `${url}/a2a/debate`, "http://elsewhere.example/x"],
    ["swe", "http://127.0.0.1:4098", "http://127.0.0.1:4098/x"],
    ["guest", "http://127.0.0.1:4096", "http://127.0.0.1:4096/x"],
  ] as const)
    await acting.fetch({ name, url: address })(at, {});
  fetching.mockRestore();
  expect(sent).toEqual([
    [`${url}/a2a/debate/artifacts/x`, "Bearer own-token-of-the-gateway", "ann"],
    ["http://elsewhere.example/x", null, null],
    ["http://127.0.0.1:4098/x", null, "ann"],
    ["http://127.0.0.1:4096/x", null, null],
  ]);
});
