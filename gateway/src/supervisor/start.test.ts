import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdir, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { type Config, loadConfig } from "manyhands/internal/config/config";
import { checkoutForTest, liveServer } from "../testing/checkout.ts";
import { type SystemEvent, startAgents } from "./start.ts";

/**
 * The agents `manus`, and those beside it, of a checkout whose servers and gateway have this
 * source.
 */
function checkout(source: string, more: { readonly gateway?: string; readonly swe?: string } = {}) {
  const { gateway = source, ...others } = more;
  return checkoutForTest({ gateway, agents: { manus: source, ...others } });
}

async function contextOf(root: string, signal: AbortSignal, env: Record<string, string> = {}) {
  const up = Promise.withResolvers<Config>();
  const events: SystemEvent[] = [];
  const config = await loadConfig({ cwd: root, env: { GATEWAY_PORT: "0", ...env } });
  const report = (event: SystemEvent, held: Config) => {
    events.push(event);
    if (event.type === "system-up") up.resolve(held);
  };
  return { events, up: up.promise, context: { root, cwd: root, env, config, signal, report } };
}

test("the servers get the home, are up at their addresses, and drain on request", async () => {
  const stop = new AbortController();
  await using made = await checkout(liveServer);
  const { events, up, context } = await contextOf(made.root, stop.signal);
  const done = startAgents(context);
  const { url } = (await Promise.race([up, done.then(() => up)])).agents.manus ?? {};
  expect(events).toMatchObject([
    { type: "server-up", name: "manus", url, restarts: 0 },
    { type: "server-up", name: "gateway" },
    { type: "system-up", without: [] },
  ]);
  expect(await (await fetch(url ?? "")).text()).toBe(context.config.home);
  stop.abort();
  expect(await done).toBe(true);
  expect(fetch(url ?? "")).rejects.toThrow();
});

test("the gateway is started once the last of its agents is up", async () => {
  const stop = new AbortController();
  const slow = `await Bun.sleep(700); await Bun.write("agent-is-up", "");\n${liveServer}`;
  const gateway = `process.env.PUBLIC_URL = String(await Bun.file("agent-is-up").exists());\n${liveServer}`;
  await using made = await checkout(slow, { gateway, swe: liveServer });
  const { up, context } = await contextOf(made.root, stop.signal);
  const done = startAgents(context);
  const { port } = (await Promise.race([up, done.then(() => up)])).gateway;
  expect(await (await fetch(`http://127.0.0.1:${port}/public`)).text()).toBe("true");
  stop.abort();
  await done;
});

test.each([
  [{}, (inside: string) => inside, (inside: string) => inside],
  [{ PUBLIC_URL: "https://team.example" }, () => "https://team.example", (inside: string) => inside],
  [
    {
      PUBLIC_URL: "https://other.example",
      MANYHANDS_GATEWAY_PUBLIC_URL: "https://team.example/x/",
      MANYHANDS_AGENTS_MANUS_PUBLIC_URL: "https://manus.example",
    },
    () => "https://team.example/x",
    () => "https://manus.example",
  ],
])("each server gets its public address from the settings: %j", async (more, ofGateway, ofManus) => {
  const stop = new AbortController();
  await using made = await checkout(liveServer);
  const { up, context } = await contextOf(made.root, stop.signal, { MANYHANDS_TOKEN: "long-enough", ...more });
  const done = startAgents(context);
  const held = await Promise.race([up, done.then(() => up)]);
  const outside = async (inside: string) => (await fetch(`${inside}/public`)).text();
  const gateway = `http://127.0.0.1:${held.gateway.port}`;
  const manus = held.agents.manus?.url ?? "";
  expect(await outside(gateway)).toBe(ofGateway(gateway));
  expect(await outside(manus)).toBe(ofManus(manus));
  stop.abort();
  expect(await done).toBe(true);
});

test("a server that fails once and then starts is waited for, and the gateway starts after it", async () => {
  const stop = new AbortController();
  const once = `import { existsSync, writeFileSync } from "node:fs";
if (!existsSync("tried")) { writeFileSync("tried", ""); process.exit(1); }
${liveServer}`;
  await using made = await checkout(once);
  const { events, up, context } = await contextOf(made.root, stop.signal);
  const done = startAgents(context);
  await Promise.race([up, done.then(() => up)]);
  expect(events).toMatchObject([
    { type: "server-down", name: "manus" },
    { type: "server-up", name: "manus", restarts: 1 },
    { type: "server-up", name: "gateway" },
    { type: "system-up", without: [] },
  ]);
  stop.abort();
  expect(await done).toBe(true);
});

test("a stop while agents still start ends the start, and no gateway is begun", async () => {
  const stop = new AbortController();
  const starting =
    'await Bun.write("starting", ""); process.on("SIGTERM", () => process.exit(0)); setInterval(() => {}, 1000);';
  await using made = await checkout(starting, { gateway: 'await Bun.write("begun", "");' });
  const { events, context } = await contextOf(made.root, stop.signal);
  const done = startAgents(context);
  for (const end = Date.now() + 60_000; !existsSync(join(made.root, "starting")) && Date.now() < end; )
    await Bun.sleep(10);
  stop.abort();
  expect(await done).toBe(true);
  expect([events, existsSync(join(made.root, "begun"))]).toEqual([[], false]);
});

test("where a server's log cannot be opened nothing is left running, and that is told", async () => {
  await using made = await checkout(liveServer, { swe: liveServer });
  const { context } = await contextOf(made.root, new AbortController().signal);
  await mkdir(join(context.config.home, "logs", "swe.log"), { recursive: true });
  await expect(startAgents(context)).rejects.toMatchObject({ code: "EISDIR" });
  const running = (await readdir("/proc")).filter((pid) => /^\d+$/.test(pid));
  const places = await Promise.all(running.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => "")));
  expect(places.filter((place) => place === made.root)).toEqual([]);
});

test("a gateway whose agents run elsewhere is started alone", async () => {
  const stop = new AbortController();
  await using made = await checkout(liveServer);
  const { events, up, context } = await contextOf(made.root, stop.signal);
  const done = startAgents({ ...context, agents: [] });
  await Promise.race([up, done.then(() => up)]);
  expect(events).toMatchObject([{ type: "server-up", name: "gateway" }, { type: "system-up" }]);
  stop.abort();
  expect(await done).toBe(true);
});

test("every server is told its ports, the settings' file, and where the agents are", async () => {
  const stop = new AbortController();
  const telling = `const { PORT, HOST } = process.env;
const server = Bun.serve({ port: Number(PORT), hostname: HOST, fetch: () => Response.json(process.env) });
console.log("ready " + server.url);
process.on("SIGTERM", () => process.exit(0));`;
  await using made = await checkout(telling);
  const { up, context } = await contextOf(made.root, stop.signal, { GRPC_PORT: "4711" });
  const done = startAgents(context);
  const { agents, gateway, file, home } = await Promise.race([up, done.then(() => up)]);
  const manus = agents.manus?.url ?? "";
  const told = (url: string) => fetch(url).then((answer) => answer.json());
  const every = { MANYHANDS_CONFIG: file, MANYHANDS_HOME: home, HOST: "127.0.0.1", MANUS_URL: manus };
  expect(await told(manus)).toMatchObject({ ...every, PORT: new URL(manus).port, GRPC_PORT: "0" });
  expect(await told(`http://127.0.0.1:${gateway.port}`)).toMatchObject({
    ...every,
    PORT: String(gateway.port),
    GRPC_PORT: "4711",
  });
  stop.abort();
  await done;
});

test("settings that name a missing file, or a flow that cannot be loaded, start nothing", async () => {
  await using made = await checkout(liveServer);
  await Bun.write(join(made.root, "no-flow.ts"), "export const other = 1;");
  for (const [name, text] of [
    ["MANYHANDS_AGENTS_MANUS_ENTRY", "agents/none.ts"],
    ["MANYHANDS_AGENTS_MANUS_INSTRUCTIONS_FILE", "none.md"],
    ["MANYHANDS_FLOWS_MINE_ENTRY", "none.ts"],
    ["MANYHANDS_FLOWS_MINE_ENTRY", "no-flow.ts"],
  ] as const) {
    const stop = new AbortController();
    const { events, up, context } = await contextOf(made.root, stop.signal, { [name]: text });
    void up.then(() => stop.abort());
    await expect(startAgents(context)).rejects.toMatchObject({ code: "config_invalid" });
    expect(events).toEqual([]);
  }
});

test("an agent that cannot start ends `start` with a failure that says why", async () => {
  await using made = await checkout('console.error("manus: no such key"); process.exit(2);');
  const { events, context } = await contextOf(made.root, new AbortController().signal);
  expect(await startAgents(context)).toBe(false);
  expect(events.map(({ type }) => type)).not.toContain("system-up");
  expect(events).toContainEqual({
    type: "server-given-up",
    code: "config_invalid",
    name: "manus",
    reason: expect.stringContaining("manus: no such key"),
  });
});

test("a port in use, one for two servers, and settings without agents are refused at once", async () => {
  await using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { signal } = new AbortController();
  const port = String(server.port);
  await using made = await checkout(liveServer);
  const taken = await contextOf(made.root, signal, { MANUS_PORT: port });
  expect(startAgents(taken.context)).rejects.toThrow(/is in use.*MANUS_PORT/);
  const shared = await contextOf(made.root, signal, { MANUS_PORT: port, GATEWAY_PORT: port });
  expect(startAgents(shared.context)).rejects.toThrow(`manus and gateway both have port ${port}. Set GATEWAY_PORT`);
  await using bare = await checkoutForTest({});
  const empty = await contextOf(bare.root, signal);
  expect(startAgents(empty.context)).rejects.toThrow("There is no agent: the settings switch all of them off.");
});
