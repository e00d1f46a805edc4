import { expect, test } from "bun:test";
import { loadConfig } from "manyhands/internal/config/config";
import type { Engine } from "manyhands/internal/core/runs/engine";
import type { ArtifactStore } from "manyhands/internal/core/workspace";
import { textInMemory } from "manyhands/internal/testing/durable/text-in-memory";
import type { Registry } from "../registry/registry.ts";
import { openGatewayPeers } from "./open-gateway-peers.ts";

const url = "http://127.0.0.1:4099";
const publicUrl = "https://team.example";

/** The peers of a gateway with a flow and two agents, and what they ask of its registry. */
async function peersForTest(env: Record<string, string> = {}, outside = publicUrl) {
  const config = await loadConfig({ cwd: "/", env: { MANYHANDS_TOKEN: "own-token-of-the-gateway", ...env } });
  const asked: unknown[] = [];
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
    ...{ config, url, publicUrl: outside, registry, inside: (one) => one, pushCallbackKey: textInMemory() },
    engine: {} as Engine,
    artifacts: {} as ArtifactStore,
    flows: { get: (name) => (name === "debate" ? ({ name } as never) : undefined) },
  });
  return { peers, asked, config };
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
  const { peers } = await peersForTest({ MANYHANDS_GATEWAY_PATIENCE_SECONDS: "7" });
  expect([peers.bounds.patienceMs, peers.pushCallbacks !== undefined]).toEqual([7_000, true]);
  const alone = await peersForTest({}, url);
  expect(alone.peers.pushCallbacks).toBeUndefined();
  const named = await peersForTest({ PUBLIC_URL: publicUrl }, url);
  expect(named.peers.pushCallbacks).toBeDefined();
});
