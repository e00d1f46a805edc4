import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "manyhands/internal/config/config";
import { openTokens } from "manyhands/internal/server/storage/open-shared";
import { agentServerForTest } from "manyhands/internal/testing/a2a/agent-server";
import {
  noPostgres,
  type PostgresProcess,
  postgresPrograms,
  startPostgres,
} from "manyhands/internal/testing/durable/postgres-process";
import { skipped } from "manyhands/internal/testing/durable/skipped";
import { type GatewayServer, startGatewayServer, until } from "../servers/gateway-server.ts";

if (postgresPrograms === undefined) skipped(noPostgres);
else {
  let server: PostgresProcess;
  let base: string;
  let env: Record<string, string>;
  let gateways: readonly GatewayServer[];
  const admin = { Authorization: "Bearer long-enough-token" };

  beforeAll(async () => {
    [server, base] = [await startPostgres(), await mkdtemp(join(tmpdir(), "manyhands-cluster-"))];
    env = {
      MANYHANDS_ENGINE_KIND: "postgres",
      MANYHANDS_ENGINE_URL: await server.createDatabase(),
      MANYHANDS_ENGINE_SECRET_KEY: "a secret of all replicas, 32 characters",
      MANYHANDS_TOKEN: "long-enough-token",
      MANYHANDS_LIMITS_PRINCIPAL_REQUESTS_PER_MINUTE: "3",
    };
    gateways = await Promise.all(["one", "other"].map((name) => startGatewayServer(join(base, name), env)));
  }, 120_000);
  afterAll(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await server[Symbol.asyncDispose]();
    await rm(base, { recursive: true });
  }, 60_000);

  test("an agent that is registered at one gateway is known at another with its token, and gone with it", async () => {
    const [one, other] = gateways;
    const agent = await agentServerForTest({ script: () => ({ text: "hello" }) });
    try {
      const added = await one?.call("/agents", { url: agent.url, name: "guest", token: "the-agents-own" }, admin);
      expect([added?.status, added?.body.name]).toEqual([201, "guest"]);
      const named = async () => {
        const { body } = (await other?.call("/agents", undefined, admin)) ?? {};
        return (body.agents ?? body).some(({ name }: { name: string }) => name === "guest");
      };
      await until(named);
      const sql = new Bun.SQL({ url: env.MANYHANDS_ENGINE_URL ?? "", max: 1 });
      const rows = await sql`SELECT * FROM manyhands.kept_texts`;
      await sql.close({ timeout: 0 });
      expect(rows.map(({ name }: { name: string }) => name).toSorted()).toEqual(["agents", "card-key"]);
      expect(JSON.stringify(rows)).not.toMatch(/guest|the-agents-own/);
      await fetch(`${other?.url}/agents/guest`, { method: "DELETE", headers: admin });
      await until(async () => {
        const { body } = (await one?.call("/agents", undefined, admin)) ?? {};
        return !(body.agents ?? body).some(({ name }: { name: string }) => name === "guest");
      });
    } finally {
      await agent[Symbol.asyncDispose]();
    }
  }, 60_000);

  test("the start of replicas without a bucket says that files stay on their machine", () => {
    for (const gateway of gateways) expect(gateway.log()).toContain("artifacts.bucket is not set");
  });

  test("all replicas publish the same keys", async () => {
    const [one, other] = await Promise.all(gateways.map((gateway) => gateway.call("/.well-known/jwks.json")));
    expect(one?.body.keys).toHaveLength(1);
    expect(other?.body).toEqual(one?.body);
  });

  test("a token made at a third machine lets its principal in at both, whose limits count together", async () => {
    const home = join(base, "third");
    const tokens = await openTokens(await loadConfig({ cwd: base, env: { ...env, MANYHANDS_HOME: home } }));
    const secret = await tokens.add({ name: "laptop", principal: "ann", scopes: ["read", "run"] });
    const ann = { Authorization: `Bearer ${secret}` };
    const left = 60_000 - (Date.now() % 60_000);
    if (left < 10_000) await Bun.sleep(left + 100);
    const statuses: (number | undefined)[] = [];
    for (const gateway of [...gateways, ...gateways])
      statuses.push((await gateway.call("/flows/sequential", { input: "hi", agents: ["nobody"] }, ann)).status);
    expect(statuses.at(-1)).toBe(429);
    expect(statuses.slice(0, 3)).not.toContain(429);
    expect((await gateways[0]?.call("/usage", undefined, ann))?.body.requests).toEqual({ used: 3, limit: 3 });
    await tokens.revoke("laptop");
    await tokens.close();
    for (const gateway of gateways) expect((await gateway.call("/usage", undefined, ann)).status).toBe(401);
  }, 90_000);
}
