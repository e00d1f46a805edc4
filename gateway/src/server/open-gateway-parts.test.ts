import { expect, spyOn, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "manyhands/internal/config/config";
import { engineText } from "manyhands/internal/config/storage/engine-config";
import * as policies from "manyhands/internal/server/protocols/open-card-policy";
import * as memories from "manyhands/internal/server/storage/open-memory";
import * as sharing from "manyhands/internal/server/storage/open-shared";
import { textInMemory } from "manyhands/internal/testing/durable/text-in-memory";
import * as registries from "../registry/registry.ts";
import * as mcp from "../settings/mcp-settings.ts";
import { openGatewayMemory } from "./open-gateway-memory.ts";
import { openGatewayRegistry } from "./open-gateway-registry.ts";
import { openSettings } from "./open-settings.ts";

const configFor = (env: Record<string, string> = {}) =>
  loadConfig({ cwd: "/", env: { MANYHANDS_TOKEN: "own-token-of-the-gateway", ...env } });

test("the registry has the agents of the settings, no names of flows, its cards checked, and its pace", async () => {
  const config = await configFor({ SWE_URL: "http://127.0.0.1:4098", MANYHANDS_GATEWAY_CHECK_SECONDS: "7" });
  const [policy, keySets] = [{}, {}];
  using opened = spyOn(registries, "openRegistry").mockReturnValue({} as never);
  using checking = spyOn(policies, "openCardPolicy").mockResolvedValue(policy as never);
  using sets = spyOn(policies, "openKeySets").mockReturnValue(keySets as never);
  const flows = { names: ["debate"] };
  const parts = { keys: {} as never, inside: (one: string) => one, report: () => undefined };
  await openGatewayRegistry(config, flows, { kept: textInMemory(), ...parts });
  const [given] = opened.mock.calls[0] ?? [];
  expect(given?.everyMs).toBe(7_000);
  expect([given?.inside === parts.inside, given?.report === parts.report]).toEqual([true, true]);
  expect([given?.reserved === flows.names, given?.policy === (policy as never)]).toEqual([true, true]);
  const { credentials, isOwn = false } = config.agents.swe ?? {};
  expect(given?.configured).toContainEqual({ name: "swe", url: "http://127.0.0.1:4098", credentials, isOwn });
  expect(checking.mock.calls).toEqual([[config, parts.keys, keySets]] as never);
  expect(sets.mock.calls).toEqual([[config, parts.inside]]);
});

test("the memory is opened once, when it is first asked for, and closed only if it was", async () => {
  const config = await configFor();
  const happened: unknown[] = [];
  const store = { close: async () => void happened.push("closed") };
  const shared = {} as never;
  using _ = spyOn(memories, "openMemoryStore").mockImplementation((...given) => {
    happened.push(given[0] === config && given[1] === shared);
    return store as never;
  });
  await openGatewayMemory(config, shared).close();
  expect(happened).toEqual([]);
  const memory = openGatewayMemory(config, shared);
  expect([await memory.open(), await memory.open()]).toEqual([store, store] as never);
  await memory.close();
  expect(happened).toEqual([true, "closed"]);
});

test("the settings say of what system they are, warn in its log, and close its tokens after each use", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-settings-"));
  const config = { ...(await configFor({ MANYHANDS_HOME: home })), notes: ["A note."] };
  const happened: unknown[] = [];
  const store = {
    add: async (token: object) => token,
    list: async () => ["ann"],
    revoke: async (name: string) => {
      throw new Error(`no ${name}`);
    },
    close: async () => void happened.push("closed"),
  };
  using opened = spyOn(sharing, "openTokens").mockResolvedValue(store as never);
  using servers = spyOn(mcp, "mcpSettings");
  const shared = {} as never;
  const about = { cwd: home, env: {}, config, flows: {} as never, registry: {} as never, shared };
  const settings = openSettings({
    ...about,
    log: { warn: (fields, message) => void happened.push([fields, message]) },
  });
  expect(settings.about).toEqual({
    ...{ file: join(home, "manyhands.toml"), home: config.home, engine: engineText(config.engine, home) },
    ...{ sandbox: config.sandbox.tier, notes: config.notes },
  });
  expect(settings.asksForTokens).toBe(true);
  servers.mock.calls[0]?.[1].warn("something");
  const token = { name: "bob" } as never;
  expect([await settings.tokens.add(token), await settings.tokens.list()]).toEqual([token, ["ann"]] as never);
  await expect(settings.tokens.revoke("bob")).rejects.toThrow("no bob");
  expect(happened).toEqual([[{}, "something"], "closed", "closed", "closed"]);
  expect(opened.mock.calls).toEqual([[config], [config], [config]]);
  await rm(home, { recursive: true });
});
