import { afterAll, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "manyhands/internal/config/config";
import { startAgents } from "./start.ts";

const folder = mkdtempSync(join(tmpdir(), "manyhands-start-"));
afterAll(() => rm(folder, { recursive: true }));

const agent = `
const { PORT, HOST, MANYHANDS_HOME } = process.env;
const params = { name: "manus", model: { name: "rehearsal", provider: "rehearsal" }, sandbox: "bwrap" };
const card = { name: "Manus", capabilities: { extensions: [{ uri: "urn:manyhands:agent:1", params }] } };
const server = Bun.serve({ port: Number(PORT), hostname: HOST, fetch: (request) =>
  request.url.endsWith("/public") ? new Response(process.env.PUBLIC_URL) : request.url.endsWith("agent-card.json") ? Response.json(card) : new Response(MANYHANDS_HOME) });
console.log("ready " + server.url);
process.on("SIGTERM", () => process.exit(0));
`;

async function checkout(source: string | undefined): Promise<string> {
  const root = mkdtempSync(join(folder, "root-"));
  await mkdir(join(root, "agents/manus/src"), { recursive: true });
  await mkdir(join(root, "gateway/src/server"), { recursive: true });
  await writeFile(join(root, "gateway/src/server/main.ts"), source ?? "");
  if (source !== undefined) await writeFile(join(root, "agents/manus/src/server.ts"), source);
  const off = ["browser", "swe", "data-analysis", ...(source === undefined ? ["manus"] : [])];
  const switched = off.map((name) => `[agents.${name}]\nenabled = false\n`);
  const own = source === undefined ? [] : ['[agents.manus]\nentry = "agents/manus/src/server.ts"\n'];
  await writeFile(join(root, "manyhands.toml"), [...own, ...switched].join(""));
  return root;
}

async function contextOf(root: string, port: number, signal: AbortSignal, more: Record<string, string> = {}) {
  const said: string[] = [];
  const env = { PATH: process.env.PATH, MANUS_PORT: String(port), GATEWAY_PORT: "0", ...more };
  const config = await loadConfig({ cwd: root, env });
  return { said, context: { root, cwd: root, env, config, signal, say: (line: string) => void said.push(line) } };
}

test("start tells address, model and sandbox of each agent, and drains on request", async () => {
  const stop = new AbortController();
  const { said, context } = await contextOf(await checkout(agent), 0, stop.signal);
  const done = startAgents(context);
  for (const deadline = Date.now() + 15_000; !said.some((line) => line.startsWith("Up.")); await Bun.sleep(10))
    if (Date.now() > deadline) throw new Error(said.join("\n"));
  const line = said.find((one) => one.startsWith("  manus")) ?? "";
  expect(line).toMatch(
    /^ {2}manus {2}http:\/\/127\.0\.0\.1:\d+ {2}· {2}rehearsal model \(scripted; no model is configured\) {2}· {2}sandbox bwrap$/,
  );
  const url = /http\S+/.exec(line)?.[0] ?? "";
  expect(await (await fetch(url)).text()).toBe(context.config.home);
  stop.abort();
  expect(await done).toBe(true);
  expect(fetch(url)).rejects.toThrow();
});

test("the gateway is started once the last of its agents is up", async () => {
  const stop = new AbortController();
  const root = await checkout(`await Bun.sleep(700); await Bun.write("agent-is-up", "");\n${agent}`);
  const seen = `process.env.PUBLIC_URL = String(await Bun.file("agent-is-up").exists());\n${agent}`;
  await writeFile(join(root, "gateway/src/server/main.ts"), seen);
  await mkdir(join(root, "agents/swe/src"), { recursive: true });
  await writeFile(join(root, "agents/swe/src/server.ts"), agent);
  const swe = { SWE_PORT: "0", MANYHANDS_AGENTS_SWE_ENTRY: "agents/swe/src/server.ts" };
  const { said, context } = await contextOf(root, 0, stop.signal, { ...swe, MANYHANDS_AGENTS_SWE_ENABLED: "true" });
  const up = Promise.withResolvers<void>();
  const done = startAgents({ ...context, onUp: () => up.resolve() });
  await Promise.race([up.promise, done]);
  const url = /http:[^\s]+/.exec(said.find((line) => line.startsWith("  gateway")) ?? "")?.[0];
  expect(await (await fetch(`${url}/public`)).text()).toBe("true");
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
])("each server is told its address from outside, as the settings say: %j", async (more, ofGateway, ofManus) => {
  const stop = new AbortController();
  const env = { MANYHANDS_TOKEN: "long-enough", ...more };
  const { said, context } = await contextOf(await checkout(agent), 0, stop.signal, env);
  const up = Promise.withResolvers<void>();
  const done = startAgents({ ...context, onUp: () => up.resolve() });
  await Promise.race([up.promise, done]);
  const told = async (name: string) => {
    const line = said.find((one) => one.startsWith(`  ${name}`)) ?? "";
    const inside = /http:[^\s]+/.exec(line)?.[0] ?? "";
    return { line, inside, outside: await (await fetch(`${inside}/public`)).text() };
  };
  const [gateway, manus] = [await told("gateway"), await told("manus")];
  expect(gateway.outside).toBe(ofGateway(gateway.inside));
  expect(gateway.line).toContain(gateway.outside);
  expect(manus.outside).toBe(ofManus(manus.inside));
  stop.abort();
  expect(await done).toBe(true);
});

test("a server that fails at its first try and lives at the next is waited for, and the gateway comes after it", async () => {
  const stop = new AbortController();
  const once = `import { existsSync, writeFileSync } from "node:fs";
if (!existsSync("tried")) { writeFileSync("tried", ""); process.exit(1); }
${agent}`;
  const { said, context } = await contextOf(await checkout(once), 0, stop.signal);
  const done = startAgents(context);
  for (const deadline = Date.now() + 15_000; !said.some((line) => line.startsWith("Up.")); await Bun.sleep(10))
    if (Date.now() > deadline) throw new Error(said.join("\n"));
  expect(said.join("\n")).toContain("(restart 1)");
  stop.abort();
  expect(await done).toBe(true);
});

test("an agent that cannot live ends start with a failure that says why", async () => {
  const { said, context } = await contextOf(
    await checkout('console.error("manus: no such key"); process.exit(2);'),
    0,
    new AbortController().signal,
  );
  expect(await startAgents(context)).toBe(false);
  expect(said.join("\n")).toContain("manus: no such key");
});

test("a port in use, one for two servers, and settings without agents are refused at once", async () => {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { signal } = new AbortController();
  const taken = await contextOf(await checkout(agent), server.port ?? 0, signal);
  expect(startAgents(taken.context)).rejects.toThrow(/is in use.*MANUS_PORT/);
  const port = String(server.port);
  const shared = await contextOf(await checkout(agent), server.port ?? 0, signal, { GATEWAY_PORT: port });
  expect(startAgents(shared.context)).rejects.toThrow(`manus and gateway both have port ${port}. Set GATEWAY_PORT`);
  const empty = await contextOf(await checkout(undefined), 0, signal);
  expect(startAgents(empty.context)).rejects.toThrow("There is no agent: the settings switch all of them off.");
  await server.stop(true);
});
