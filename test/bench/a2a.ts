import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { agentApp } from "manyhands/internal/a2a/server/agent-app";
import { openAuthStore } from "manyhands/internal/auth/auth-store";
import { identifyBy } from "manyhands/internal/auth/identify";
import { jwtVerifier } from "manyhands/internal/auth/jwt";
import { type Identify, localCaller } from "manyhands/internal/core/caller";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { createArtifactStore } from "manyhands/internal/machine/workspace/artifacts/artifact-store";
import { definition } from "../a2a/agent-server.ts";
import { median, startServer, timed } from "./servers/bench-server.ts";

/**
 * What A2A costs: a task's stream of 1,000 events compared with Hono's own stream of as many bytes
 * in the same minute, both by separate processes; the last pages of 10,000 tasks compared with the
 * first; what it takes to know a caller. Run it with `bun test/bench/a2a.ts`; it exits with 1 if a
 * target is missed.
 */
const folder = mkdtempSync(join(tmpdir(), "bench-"));
const events = 1_000;
const tasks = 10_000;
const rounds = 100;
const stretch = 20;

/** Reads a stream to its end; returns how many events it had, and their characters. */
async function drained(response: Response): Promise<{ events: number; characters: number }> {
  const text = await response.text();
  return { events: text.match(/^data: /gm)?.length ?? 0, characters: text.length };
}

const post = (url: string, body: unknown) =>
  fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", "A2A-Version": "1.0" },
    body: JSON.stringify(body),
  });

const message = (text: string) => ({
  message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] },
});

/**
 * Milliseconds of each stream, round by round, so that what else the machine does disturbs those of
 * a round alike: of a task at work, and waiting for one like it; of one that has ended; and of Hono
 * alone, as many events of as many characters, read by the same client.
 */
async function streams(): Promise<Record<"live" | "waited" | "stored" | "raw", number[]>> {
  const agent = await startServer(folder, "no-op", resolve(import.meta.dir, "servers/no-op-agent.ts"));
  const hono = await startServer(folder, "raw", resolve(import.meta.dir, "servers/raw-sse.ts"));
  const live = () => post(`${agent.url}/message:stream`, message(`emit ${events}`));
  const waited = () => post(`${agent.url}/message:send`, message(`emit ${events}`));
  const { task } = (await (await waited()).json()) as { task: { id: string } };
  const stored = () =>
    fetch(`${agent.url}/tasks/${task.id}:subscribe`, { headers: { "A2A-Version": "1.0", "Last-Event-ID": "1" } });
  const whole = await drained(await stored());
  const characters = Math.round(whole.characters / whole.events) - 20;
  const raw = () => fetch(`${hono.url}/stream?events=${whole.events}&characters=${characters}`);
  console.log(`${whole.events} events, ${whole.characters} characters; raw ${(await drained(await raw())).characters}`);
  const times = { live: [] as number[], waited: [] as number[], stored: [] as number[], raw: [] as number[] };
  // Tasks at work leave writes and garbage behind, so an ended one is read when there are none.
  for (const pair of [
    { stored, raw },
    { live, waited },
  ]) {
    for (let round = -10; round < rounds; round++) {
      for (const [name, open] of Object.entries(pair)) {
        const took = await timed(async () => {
          const { events: had } = await drained(await open());
          if (had < events && name !== "waited") throw new Error(`${name} had ${had} events`);
        });
        if (round >= 0) times[name as keyof typeof times].push(took);
      }
    }
  }
  await Promise.all([agent.stop(), hono.stop()]);
  return times;
}

/**
 * How many times as long one takes as the other, in the stretch of rounds that was disturbed least.
 */
function ratio(some: readonly number[], others: readonly number[]): number {
  const stretches = Array.from({ length: rounds / stretch }, (_, n) => {
    const within = (times: readonly number[]) => median(times.slice(n * stretch, (n + 1) * stretch));
    return within(some) / within(others);
  });
  return Math.min(...stretches);
}

/** An agent's server in this process, whose runs nobody executes. */
function agentOf(identify: Identify, home: string) {
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  const artifacts = createArtifactStore(join(home, "artifacts"));
  const facts = { publicUrl: "http://127.0.0.1:1" };
  const report = (bug: unknown) => console.error(bug);
  const app = agentApp({ definition, facts, engine, artifacts, identify, report });
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const about = { Host: "127.0.0.1:1", "A2A-Version": "1.0", ...headers };
    const response = await app.fetch(new Request(`${facts.publicUrl}${path}`, { headers: about }));
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as { tasks: unknown[]; nextPageToken: string };
  };
  return { engine, get };
}

/** Milliseconds of the first and the last pages of many tasks, and the megabytes a reading adds. */
async function pages(): Promise<{ first: number; last: number; moreMb: number }> {
  const home = mkdtempSync(join(folder, "list-"));
  const { engine, get } = agentOf(() => localCaller, home);
  for (let n = 0; n < tasks; n += 500) {
    const start = () => {
      const received = { messageId: crypto.randomUUID(), parts: [{ type: "text" as const, text: "x".repeat(500) }] };
      const event = { type: "message-received", ...received } as const;
      const about = { kind: definition.name, principal: "local", contextId: crypto.randomUUID() };
      return engine.start({ ...about, input: { message: received, hops: 0 }, events: [event] });
    };
    await Promise.all(Array.from({ length: 500 }, start));
  }
  const readAll = async () => {
    const times: number[] = [];
    let read = 0;
    for (let token: string | undefined; token !== ""; ) {
      times.push(
        await timed(async () => {
          const page = await get(`/tasks?pageSize=100${token === undefined ? "" : `&pageToken=${token}`}`);
          token = page.nextPageToken;
          read += page.tasks.length;
        }),
      );
    }
    if (read !== tasks) throw new Error(`${read} tasks were listed`);
    return times;
  };
  const memory = () => {
    Bun.gc(true);
    return process.memoryUsage().rss / 2 ** 20;
  };
  for (let n = 0; n < 2; n++) await readAll();
  const before = memory();
  const all = [];
  for (let n = 0; n < 5; n++) all.push(await readAll());
  const moreMb = memory() - before;
  await engine.close();
  return {
    first: median(all.flatMap((times) => times.slice(0, 10))),
    last: median(all.flatMap((times) => times.slice(-10))),
    moreMb,
  };
}

/** Milliseconds that a request takes longer by each kind of credentials. */
async function authentication(): Promise<Record<string, number>> {
  const home = mkdtempSync(join(folder, "auth-"));
  const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
  const file = join(home, "jwks.json");
  await Bun.write(file, JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: "k", alg: "RS256" }] }));
  const about = { issuer: "https://id.example", audience: "manyhands" };
  const claims = { principalClaim: "sub", scopesClaim: "scope", scopePrefix: "" };
  const store = openAuthStore(join(home, "auth.db"));
  const jwt = await new SignJWT({ scope: "read run" })
    .setProtectedHeader({ alg: "RS256", kid: "k" })
    .setIssuer(about.issuer)
    .setAudience(about.audience)
    .setSubject("alice")
    .setExpirationTime("1h")
    .sign(privateKey);
  const identify = identifyBy({ token: "operator", store, jwt: jwtVerifier({ ...about, ...claims, keys: { file } }) });
  const secrets = {
    "the operator's token": "operator",
    "a token": await store.add({ name: "a", principal: "a", scopes: ["read"] }),
    "a JWT": jwt,
  };
  const open = agentOf(() => localCaller, mkdtempSync(join(home, "open-")));
  const closed = agentOf(identify, mkdtempSync(join(home, "closed-")));
  const times = new Map<string, number[]>();
  for (let round = -200; round < 2_000; round++) {
    const asked = Object.entries({ nothing: undefined, ...secrets }).map(([name, secret]) => [name, secret] as const);
    for (const [name, secret] of asked) {
      const headers: Record<string, string> = secret === undefined ? {} : { Authorization: `Bearer ${secret}` };
      const took = await timed(() => (secret === undefined ? open : closed).get("/tasks?pageSize=1", headers));
      if (round >= 0) times.getOrInsertComputed(name, () => []).push(took);
    }
  }
  await Promise.all([open.engine.close(), closed.engine.close()]);
  await store.close();
  const without = median(times.get("nothing") ?? []);
  return Object.fromEntries(Object.keys(secrets).map((name) => [name, median(times.get(name) ?? []) - without]));
}

try {
  const { live, waited, stored, raw } = await streams();
  console.log(`streams: ended ${median(stored).toFixed(1)} ms, Hono alone ${median(raw).toFixed(1)} ms`);
  console.log(`a task at work: streamed ${median(live).toFixed(1)} ms, waited for ${median(waited).toFixed(1)} ms`);
  const { first, last, moreMb } = await pages();
  console.log(`pages: first ${first.toFixed(2)} ms, last ${last.toFixed(2)} ms`);
  const known = await authentication();
  const figures = [
    { name: `stream of ${events} events over Hono's own`, value: ratio(stored, raw), unit: "×", most: 1.5 },
    {
      name: `a task with ${events} events streamed over one waited for`,
      value: ratio(live, waited),
      unit: "×",
      most: 1.5,
    },
    { name: `last pages of ${tasks} tasks over the first`, value: last / first, unit: "×", most: 1.5 },
    { name: `memory of reading ${tasks} tasks again`, value: moreMb, unit: " MB", most: 20 },
    ...Object.entries(known).map(([name, value]) => ({
      name: `a request with ${name}`,
      value,
      unit: " ms",
      most: 0.1,
    })),
  ];
  for (const { name, value, unit, most } of figures)
    console.log(`${value <= most ? "ok  " : "MISS"} ${name}: ${value.toFixed(2)}${unit} (at most ${most}${unit})`);
  process.exitCode = figures.every(({ value, most }) => value <= most) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
