import { expect, test } from "bun:test";
import { join } from "node:path";
import { agentDefaults } from "manyhands/internal/config/agents";
import { loadConfig } from "manyhands/internal/config/config";
import { besideConnections } from "manyhands/internal/config/storage/engine-config";
import { root } from "./build-root.ts";

const database = { MANYHANDS_ENGINE_URL: "postgres://manyhands:secret@postgres/manyhands" };
const folder = join(root, "deploy");
const servers = {
  gateway: 4100,
  ...Object.fromEntries(Object.entries(agentDefaults).map(([name, { port }]) => [name, port])),
};

type Service = {
  readonly image: string;
  readonly command: readonly string[];
  readonly environment: Record<string, string>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly deploy: { readonly replicas: number };
  readonly ports?: readonly string[];
  readonly [more: string]: unknown;
};

async function services(): Promise<Record<string, Service>> {
  const text = await Bun.file(join(folder, "compose.cluster.yaml")).text();
  return (Bun.YAML.parse(text) as { services: Record<string, Service> }).services;
}

const configText = await Bun.file(join(folder, "haproxy.cfg")).text();
/** The lines of a section of the balancer's configuration. */
const section = (name: string): readonly string[] =>
  configText
    .split(/\n(?=\S)/)
    .find((one) => one.split("\n")[0] === name)
    ?.split("\n")
    .map((line) => line.trim()) ?? [];

test("every server of the compose file runs twice and is reached, also by Restate, through the balancer", async () => {
  const all = await services();
  const env = all.gateway?.environment ?? {};
  for (const [name, port] of Object.entries(servers)) {
    const { deploy, command, environment, healthcheck } = all[name] ?? ({} as Service);
    expect([name, deploy.replicas, command]).toEqual([name, 2, ["serve", name]]);
    expect(environment.MANYHANDS_ENGINE_RESTATE_PUBLIC_URL).toBe(`http://balancer:${port + 1000}`);
    if (name !== "gateway") {
      expect(environment.PUBLIC_URL).toBe(`http://balancer:${port}`);
      expect(env[`${name.toUpperCase().replaceAll("-", "_")}_URL`]).toBe(`http://balancer:${port}`);
      expect(healthcheck?.test.join(" ")).toContain(`:${port}/healthz`);
    }
    expect(section(`frontend ${name}`)).toContain(`bind :${port}`);
    expect(section(`backend ${name}`)).toContain(`server-template ${name} 2 ${name}:${port} check`);
    expect(section(`frontend restate-${name}`)).toContain(`bind :${port + 1000} proto h2`);
    expect(section(`backend restate-${name}`)).toContain(
      `server-template ${name} 2 ${name}:${port + 1000} proto h2 check check-proto h1 port ${port}`,
    );
  }
});

test("the database takes the connections of every server, also while replicas are replaced", async () => {
  const all = await services();
  const [, most] = /max_connections=(\d+)/.exec(all.postgres?.command.join(" ") ?? "") ?? [];
  const config = await loadConfig({ cwd: folder, env: { MANYHANDS_ENGINE_KIND: "postgres", ...database } });
  if (config.engine.kind === "embedded") throw new Error("the engine of the compose file is PostgreSQL");
  const each = config.engine.connections + besideConnections;
  const replicas = Object.keys(servers).reduce((sum, name) => sum + (all[name]?.deploy.replicas ?? 0), 0);
  expect(replicas).toBe(10);
  expect(Number(most)).toBeGreaterThanOrEqual(replicas * each + Object.keys(servers).length * each);
});

test("no part of the compose file has more privileges than it needs, and only the balancer is reached from outside", async () => {
  const all = await services();
  for (const [name, service] of Object.entries(all)) {
    expect([name, service]).toMatchObject([
      name,
      { read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] },
    ]);
    expect([name, service.privileged]).toEqual([name, undefined]);
    expect([name, service.cap_add !== undefined]).toEqual([name, name === "postgres"]);
    expect([name, service.ports]).toEqual([name, name === "balancer" ? ["127.0.0.1:4100:4100"] : undefined]);
  }
});

test("each server of the compose file accepts its settings once the secrets are there", async () => {
  const all = await services();
  const comment = (await Bun.file(join(folder, "compose.cluster.yaml")).text()).match(/[A-Z_]+(?==)/g) ?? [];
  const secrets = {
    MANYHANDS_TOKEN: "long-enough",
    AWS_ACCESS_KEY_ID: "id",
    AWS_SECRET_ACCESS_KEY: "secret",
    ...database,
    MANYHANDS_ENGINE_RESTATE_IDENTITY_KEYS: "publickeyv1_example",
    MANYHANDS_MODEL: "some-model",
    OPENAI_API_KEY: "key",
  };
  expect(comment).toEqual(expect.arrayContaining(Object.keys(secrets)));
  for (const name of Object.keys(servers)) {
    const environment = { ...all[name]?.environment, PUBLIC_URL: "http://balancer:4100" };
    const env = { HOST: "0.0.0.0", ...environment, ...secrets };
    const config = await loadConfig({ cwd: folder, env, agent: name === "gateway" ? undefined : name });
    expect(config.engine).toMatchObject({ kind: "restate", restate: { ingress: ["http://restate:8080"] } });
    for (const [agent, { port }] of Object.entries(agentDefaults))
      expect(config.agents[agent]?.url).toBe(`http://balancer:${port}`);
  }
});

const haproxy = Bun.which("haproxy");
if (haproxy === null) console.warn("The balancer's configuration is not checked: haproxy is missing.");

test.skipIf(haproxy === null)("HAProxy finds no fault in the balancer's configuration", async () => {
  const child = Bun.spawn(["haproxy", "-c", "-f", join(folder, "haproxy.cfg")], {
    stdout: "pipe",
    stderr: "pipe",
    timeout: 30_000,
  });
  const said = (await child.stdout.text()) + (await child.stderr.text());
  expect([said.trim(), await child.exited]).toEqual([expect.stringContaining("Configuration file is valid"), 0]);
  expect(said).not.toContain("WARNING");
});
