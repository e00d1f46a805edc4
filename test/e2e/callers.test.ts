import { expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { freePort } from "manyhands/internal/http/free-port";
import { bareEnvironment } from "manyhands/internal/testing/machine/bare-environment";
import { startGatewayServer } from "../servers/gateway-server.ts";
import { startManus } from "../servers/manus-server.ts";

const operator = "long-enough";
const main = resolve(import.meta.dir, "../../gateway/src/main.ts");

test("servers take tokens that come and go while they run, and JWTs, and keep callers apart", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-callers-"));
  const state = join(home, "state");
  await mkdir(state);
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  await writeFile(join(home, "jwks.json"), JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: "k" }] }));
  const settings = {
    MANYHANDS_HOME: state,
    MANYHANDS_TOKEN: operator,
    MANYHANDS_AUTH_JWT_JWKS_FILE: join(home, "jwks.json"),
    MANYHANDS_AUTH_JWT_ISSUER: "https://id.example",
    MANYHANDS_AUTH_JWT_AUDIENCE: "manyhands",
  };
  const manus = startManus({ ...settings, PORT: `${freePort()}` });
  await manus.ready;
  const gateway = await startGatewayServer(home, { ...settings, MANUS_URL: manus.url });
  const tokens = async (...args: string[]) => {
    const child = Bun.spawn([process.execPath, main, "tokens", ...args], {
      cwd: home,
      env: { ...bareEnvironment(), ...settings },
      stdout: "pipe",
    });
    const out = await new Response(child.stdout).text();
    expect(await child.exited).toBe(0);
    return out.trim();
  };
  try {
    const alice = { Authorization: `Bearer ${await tokens("add", "laptop", "--principal", "alice")}` };
    const reader = { "X-API-Key": await tokens("add", "dashboard", "--principal", "alice", "--scopes", "read") };
    const jwt = await new SignJWT({ iss: "https://id.example", aud: "manyhands", sub: "bob", scope: "read run" })
      .setProtectedHeader({ alg: "ES256", kid: "k" })
      .setExpirationTime("5m")
      .sign(privateKey);
    const bob = { Authorization: `Bearer ${jwt}` };
    const started = await gateway.call("/flows/sequential", { input: "Hello", agents: ["manus"] }, alice);
    const path = started.status < 300 ? `/runs/${started.body.runId}` : "/runs/none";
    expect([started.status, (await gateway.call(path, undefined, reader)).status]).toEqual([202, 200]);
    expect((await gateway.call(path, undefined, bob)).status).toBe(404);
    expect((await gateway.call(`${path}/cancel`, {}, reader)).status).toBe(403);
    expect((await gateway.call(path)).status).toBe(401);
    const asAlice = { Authorization: `Bearer ${operator}`, "Manyhands-Principal": "alice" };
    expect((await gateway.call(path, undefined, asAlice)).status).toBe(200);
    expect((await gateway.call(path, undefined, { ...bob, "Manyhands-Principal": "alice" })).status).toBe(403);
    const agentSays = async (headers: Record<string, string>) =>
      (await fetch(`${manus.url}/tasks`, { headers: { "A2A-Version": "1.0", ...headers } })).status;
    expect([await agentSays(alice), await agentSays(bob), await agentSays({})]).toEqual([200, 200, 401]);
    const asOf = { cron: "0 8 * * *", start: "sequential", task: "Report", agents: ["manus"] };
    for (const [name, headers] of Object.entries({ alices: alice, bobs: bob, ours: asAlice }))
      expect((await gateway.call("/schedules", { ...asOf, name }, headers)).status).toBe(201);
    // Only what was added with a token needs one later.
    const { schedules } = await Bun.file(join(state, "schedules.json")).json();
    expect(schedules.map(({ byToken }: { byToken?: boolean }) => byToken)).toEqual([true, undefined, undefined]);
    await tokens("revoke", "laptop");
    expect([(await gateway.call(path, undefined, alice)).status, await agentSays(alice)]).toEqual([401, 401]);
    expect((await gateway.call(path, undefined, reader)).status).toBe(200);
  } finally {
    await Promise.all([gateway.stop(), manus.stop()]);
    await rm(home, { recursive: true });
  }
});
