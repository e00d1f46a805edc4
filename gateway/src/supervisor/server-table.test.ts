import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "manyhands/internal/config/config";
import {
  agentEntries,
  agentEntry,
  agentUrls,
  argsOf,
  gatewayEntry,
  grpcPortOf,
  onFreePorts,
  portOf,
  publicUrlOf,
  requireOwnPorts,
  urlOf,
  withPorts,
} from "./server-table.ts";

const folder = await mkdtemp(join(tmpdir(), "server-table-"));
for (const name of ["fixed", "any"]) await Bun.write(join(folder, `${name}.ts`), "");
afterAll(() => rm(folder, { recursive: true }));

/** Three agents: on a fixed port, on any, and one that runs elsewhere. */
async function config(more = "") {
  const file = join(folder, `${crypto.randomUUID()}.toml`);
  await Bun.write(
    file,
    `[server]
token = "secret-of-ours"
public_url = "https://hands.example"
grpc_port = 7000
[agents.fixed]
entry = "./fixed.ts"
port = 4711
grpc_port = 4712
public_url = "https://fixed.example"
[agents.any]
entry = "./any.ts"
port = 0
[agents.far]
url = "http://far.example:9000"
port = 0
${more}`,
  );
  return loadConfig({ cwd: folder, file, env: {} });
}

const gateway = gatewayEntry("/root-of-ours");
const [fixed, any, far] = [{ name: "fixed" }, { name: "any" }, { name: "far" }];

test("what is started is what has an entry, each with its name, file and the variable of its port", async () => {
  const settings = await config();
  const started = { name: "fixed", entry: join(folder, "fixed.ts"), portEnv: "FIXED_PORT" };
  expect(agentEntries(settings)).toContainEqual(started);
  expect(agentEntries(settings).map(({ name }) => name)).not.toContain("far");
  expect(agentEntry("fixed", settings)).toEqual(started);
  expect(() => agentEntry("far", settings)).toThrow("http://far.example:9000");
  expect([argsOf(gateway), argsOf(fixed)]).toEqual([[], ["--name", "fixed"]]);
});

test("each server has its own port, for HTTP and for gRPC, and its own address outside", async () => {
  const settings = await config("[gateway]\nport = 4800");
  expect([portOf(gateway, settings), portOf(fixed, settings)]).toEqual([4800, 4711]);
  expect([gateway, fixed, any].map((entry) => grpcPortOf(entry, settings))).toEqual([7000, 4712, 0]);
  expect([gateway, fixed, far].map((entry) => urlOf(entry, settings))).toEqual([
    "http://127.0.0.1:4800",
    "http://127.0.0.1:4711",
    "http://far.example:9000",
  ]);
  expect([gateway, fixed, far].map((entry) => publicUrlOf(entry, settings))).toEqual([
    "https://hands.example",
    "https://fixed.example",
    "http://far.example:9000",
  ]);
  const own = await config('[gateway]\ngrpc_port = 4801\npublic_url = "https://gateway.example"');
  expect([grpcPortOf(gateway, own), publicUrlOf(gateway, own)]).toEqual([4801, "https://gateway.example"]);
});

test("only who is started and takes any port gets a free one, and all are told where it is", async () => {
  const before = await config("[gateway]\nport = 0");
  const settings = withPorts(before);
  expect(settings.agents.far).toEqual(before.agents.far);
  const { port } = settings.agents.any ?? {};
  expect(port).toBeGreaterThan(0);
  expect(settings.gateway.port).toBeGreaterThan(0);
  expect(agentUrls(settings)).toMatchObject({
    ANY_URL: `http://127.0.0.1:${port}`,
    FIXED_URL: "http://127.0.0.1:4711",
    FAR_URL: "http://far.example:9000",
  });
});

test("agents that are moved to free ports of loopback are reached there alone; the others stay", async () => {
  const before = await config("[gateway]\nport = 4800");
  const { agents, server, gateway: itself } = onFreePorts(before, ["fixed", "far"]);
  const moved = agents.fixed;
  expect(moved).toMatchObject({ grpcPort: 0, publicUrl: undefined, url: `http://127.0.0.1:${moved?.port}` });
  expect(moved?.port).not.toBe(4711);
  expect(agents.far).toEqual(before.agents.far);
  expect(server).toMatchObject({ host: "127.0.0.1", publicUrl: undefined });
  expect(itself.port).toBe(4800);
});

test("two servers at one port are named, with the variable of the second", async () => {
  const settings = await config("[gateway]\nport = 4711");
  const entry = agentEntry("fixed", settings);
  expect(() => requireOwnPorts([entry, gateway], settings)).toThrow(
    "fixed and gateway both have port 4711. Set GATEWAY_PORT to another.",
  );
  requireOwnPorts([entry], settings);
});

test("where servers have a certificate, a port that was chosen leads to https", async () => {
  const settings = await config();
  const tls = { cert: "/a.pem", key: "/b.pem" } as unknown as NonNullable<(typeof settings)["server"]["tls"]>;
  const secured = { ...settings, server: { ...settings.server, tls } };
  for (const moved of [withPorts(secured), onFreePorts(secured, ["any"])])
    expect(moved.agents.any?.url).toMatch(/^https:\/\/.*:\d{3,5}$/);
  expect(withPorts(settings).agents.any?.url).toMatch(/^http:\/\/.*:\d{3,5}$/);
});
