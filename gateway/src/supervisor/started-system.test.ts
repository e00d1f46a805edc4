import { expect, spyOn, test } from "bun:test";
import { join } from "node:path";
import { type Config, loadConfig } from "manyhands/internal/config/config";
import { checkoutForTest } from "../testing/checkout.ts";
import type { ServerSpec } from "./server-process.ts";
import { startAgents } from "./start.ts";
import * as supervision from "./supervise.ts";

test("each server of a system is told its own ports and addresses, and the gateway's one address outside", async () => {
  await using checkout = await checkoutForTest({ agents: { manus: "", swe: "" } });
  const env = {
    ...{ PUBLIC_URL: "https://of-this-process.example", MANYHANDS_GATEWAY_PUBLIC_URL: "https://team.example" },
    ...{ MANYHANDS_AGENTS_MANUS_PUBLIC_URL: "https://manus.example", MANYHANDS_AGENTS_MANUS_GRPC_PORT: "4901" },
    ...{ MANYHANDS_GATEWAY_GRPC_PORT: "4900", MANYHANDS_TOKEN: "own-token", GATEWAY_PORT: "0", KEPT: "yes" },
  };
  const read = await loadConfig({ cwd: checkout.root, env });
  const tls = { ca: "/ca.pem" };
  const config = { ...read, server: { ...read.server, tls: { client: tls } } } as unknown as Config;
  const specs: ServerSpec[] = [];
  const kept: unknown[] = [];
  using _ = spyOn(supervision, "supervise").mockImplementation(async (spec, { graceMs, policy, report }) => {
    specs.push(spec);
    kept.push([graceMs, policy]);
    report({ type: "server-up", name: spec.name, url: "https://127.0.0.1:1", restarts: 0 });
  });
  const { signal } = new AbortController();
  const about = { root: checkout.root, cwd: checkout.root, env, config, signal, report: () => undefined };
  expect(await startAgents(about)).toBe(true);
  const [manus, swe, gateway] = specs;
  const told = ({ env }: ServerSpec) => [env.GRPC_PORT, env.PUBLIC_URL, env.MANYHANDS_GATEWAY_PUBLIC_URL];
  expect(specs.map((spec) => [spec.name, ...told(spec)])).toEqual([
    ["manus", "4901", "https://manus.example", "https://team.example"],
    ["swe", "0", `https://127.0.0.1:${swe?.env.PORT}`, "https://team.example"],
    ["gateway", "4900", "https://team.example", "https://team.example"],
  ]);
  const home = join(checkout.root, ".manyhands");
  for (const spec of specs) {
    expect(spec).toMatchObject({ tls, logPath: join(home, "logs", `${spec.name}.log`) });
    expect(spec.env).toMatchObject({
      ...{ HOST: "127.0.0.1", KEPT: "yes", MANYHANDS_HOME: home, MANYHANDS_CONFIG: config.file },
      ...{ MANUS_URL: `https://127.0.0.1:${manus?.env.PORT}`, SWE_URL: `https://127.0.0.1:${swe?.env.PORT}` },
    });
  }
  expect(new Set(specs.map(({ env: { PORT } }) => PORT)).size).toBe(3);
  expect(gateway?.entry).toBe(join(checkout.root, "gateway/src/server/main.ts"));
  const policy = { readyTimeoutMs: 30_000, firstPauseMs: 500, maxPauseMs: 30_000, settledMs: 10_000, attempts: 5 };
  expect(kept).toEqual(Array(3).fill([20_000, policy]));
});
