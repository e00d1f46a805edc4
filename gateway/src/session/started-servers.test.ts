import { expect, spyOn, test } from "bun:test";
import { join } from "node:path";
import { type Config, loadConfig } from "manyhands/internal/config/config";
import { AppError } from "manyhands/internal/core/errors";
import type { ServerSpec } from "../supervisor/server-process.ts";
import * as starting from "../supervisor/start.ts";
import * as supervision from "../supervisor/supervise.ts";
import { checkoutForTest } from "../testing/checkout.ts";
import type { CliContext } from "./context.ts";
import * as looking from "./is-up.ts";
import { openSession } from "./open-session.ts";
import * as systems from "./system-session.ts";

const away = new AppError("unavailable", "It is away.");
const readOnly = Object.assign(new Error("EROFS: read-only file system"), { code: "EROFS" });
const tls = { ca: "/ca.pem" };

/**
 * A folder whose servers nobody starts in earnest: what they would be started with, and which have
 * ended.
 */
async function pretended({
  connect = async () => ({}),
  unlogged,
}: {
  readonly connect?: () => Promise<object>;
  /** The agent whose log cannot be opened. */
  readonly unlogged?: string;
} = {}) {
  const checkout = await checkoutForTest({ agents: { manus: "", swe: "" } });
  const env = {
    ...{ PUBLIC_URL: "http://127.0.0.1:9/gateway", MANYHANDS_TOKEN: "own-token", KEPT: "yes" },
    ...{ MANYHANDS_AGENTS_MANUS_DELEGATES: "swe", MANYHANDS_AGENTS_SWE_DELEGATES: "manus" },
  };
  const read = await loadConfig({ cwd: checkout.root, env });
  const config = { ...read, server: { ...read.server, tls: { client: tls } } } as unknown as Config;
  const specs: ServerSpec[] = [];
  const kept: { graceMs: number; policy: object }[] = [];
  const ended: string[] = [];
  const supervising = spyOn(supervision, "supervise").mockImplementation(async (spec, { signal, report, ...how }) => {
    if (spec.name === unlogged) throw readOnly;
    specs.push(spec);
    kept.push(how);
    report({ type: "server-up", name: spec.name, url: "https://127.0.0.1:1", restarts: 0 });
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => setImmediate(resolve)));
    ended.push(spec.name);
  });
  const connected: unknown[] = [];
  const said: string[] = [];
  const context = {
    ...{ root: checkout.root, cwd: checkout.root, env, terminal: { say: (text: string) => said.push(text) } },
    connect: async (...asked: unknown[]) => {
      connected.push(asked);
      return connect();
    },
  } as unknown as CliContext;
  return {
    ...{ config, context, specs, kept, ended, connected, said, root: checkout.root },
    async [Symbol.asyncDispose]() {
      supervising.mockRestore();
      await checkout[Symbol.asyncDispose]();
    },
  };
}

const bearer = { identity: { kind: "bearer", secret: { text: "own-token" } } };

test("agents that are started for a command learn where each other is, here alone, and are all gone when it is closed", async () => {
  await using it = await pretended();
  const session = await openSession({ agent: "manus" }, it.config, it.context);
  expect([session.passing, it.connected]).toMatchObject([true, [["https://127.0.0.1:1", bearer]]]);
  expect(it.specs.map(({ name, args }) => [name, args])).toEqual([
    ["manus", ["--name", "manus"]],
    ["swe", ["--name", "swe"]],
  ]);
  const [manus, swe] = it.specs;
  const home = join(it.root, ".manyhands");
  for (const spec of it.specs) {
    expect(spec).toMatchObject({ cwd: it.root, tls, logPath: join(home, "logs", `${spec.name}.log`) });
    expect(spec.env).toMatchObject({
      ...{ HOST: "127.0.0.1", KEPT: "yes", MANYHANDS_HOME: home, MANYHANDS_CONFIG: it.config.file },
      ...{ MANUS_URL: `https://127.0.0.1:${manus?.env.PORT}`, SWE_URL: `https://127.0.0.1:${swe?.env.PORT}` },
    });
    expect(spec.env).not.toHaveProperty("PUBLIC_URL");
  }
  expect(it.kept.map(({ graceMs }) => graceMs)).toEqual([10_000, 10_000]);
  await session.close();
  expect(it.ended.toSorted()).toEqual(["manus", "swe"]);
});

test("an agent that is up already is not started a second time beside the one that asks it", async () => {
  await using it = await pretended();
  using _ = spyOn(looking, "isNowhere").mockImplementation(async (name) => name !== "swe");
  const session = await openSession({ agent: "manus" }, it.config, it.context);
  await session.close();
  expect(it.specs.map(({ name }) => name)).toEqual(["manus"]);
});

test("agents that were started for a command end if the first of them cannot be spoken to", async () => {
  await using it = await pretended({ connect: () => Promise.reject(away) });
  await expect(openSession({ agent: "manus" }, it.config, it.context)).rejects.toBe(away);
  expect(it.ended.toSorted()).toEqual(["manus", "swe"]);
});

test("a log that cannot be opened fails the command with that cause; of an agent that is only asked it is told", async () => {
  await using it = await pretended({ unlogged: "manus" });
  await expect(openSession({ agent: "manus" }, it.config, it.context)).rejects.toBe(readOnly);
  await using other = await pretended({ unlogged: "swe" });
  const session = await openSession({ agent: "manus" }, other.config, other.context);
  await session.close();
  expect(other.said.join()).toContain("read-only file system");
});

test("a system that was started for a command ends if the gateway cannot be spoken to", async () => {
  await using it = await pretended({ connect: () => Promise.reject(away) });
  let closed = 0;
  const session = { url: "http://127.0.0.1:1", config: it.config, passing: true, close: async () => void closed++ };
  using _ = spyOn(systems, "openSystem").mockResolvedValue(session);
  await expect(openSession({ flow: "debate" }, it.config, it.context)).rejects.toBe(away);
  expect(closed).toBe(1);
});

test("a system of a command has a gateway of its own, without the address that leads to another; what fails at once is told", async () => {
  await using it = await pretended();
  const config = { ...it.config, gateway: { ...it.config.gateway, port: 4105, publicUrl: "https://team.example" } };
  using starts = spyOn(starting, "startAgents").mockImplementation(async ({ report, signal, config: held }) => {
    report({ type: "system-up", without: [] }, held);
    // A server that is lost later is started again: it ends nothing.
    report({ type: "server-given-up", name: "gateway", code: "unavailable", reason: "It fell." }, held);
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    return true;
  });
  const needed = { names: ["manus"], needed: ["manus"] };
  const session = await systems.startSystem(config, it.context, needed);
  const [given] = starts.mock.calls[0] ?? [];
  expect(given?.agents).toEqual(["manus"]);
  expect(given?.config.gateway.publicUrl).toBeUndefined();
  expect([4105, 0]).not.toContain(given?.config.gateway.port as number);
  expect(session.url).toBe(`https://127.0.0.1:${given?.config.gateway.port}`);
  expect(it.said.join()).toContain("Given up on gateway.");
  await session.close();
  starts.mockRejectedValue(away);
  await expect(systems.startSystem(config, it.context, needed)).rejects.toBe(away);
});
