import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../config/config.ts";
import { serve } from "../../http/serve.ts";
import { hasOpenssl, testAuthority } from "../../testing/certificates.ts";
import { openKeySets } from "./open-card-policy.ts";
import { openOwnTls } from "./open-own-tls.ts";
import { openWebhooks } from "./open-webhooks.ts";

const folder = await mkdtemp(join(tmpdir(), "manyhands-own-tls-"));
afterAll(() => rm(folder, { recursive: true }));
const text = (name: string) => Bun.file(join(folder, name)).text();

beforeAll(async () => {
  if (!hasOpenssl)
    return console.warn("skipped: openssl is not installed, which makes the certificates of these tests");
  const authority = await testAuthority(folder);
  // Not for the address at which the servers reach each other.
  await authority.issue("server", { names: "DNS:agents.example.com" });
});

const key = { kty: "OKP", crv: "Ed25519", alg: "EdDSA", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", kid: "k" };

test("our own servers are known by every address that the settings give them, and only they are shown our certificate", async () => {
  for (const name of ["client.pem", "client.key", "authority.pem"]) await writeFile(join(folder, name), `the ${name}`);
  const at = (name: string) => join(folder, name);
  const client = {
    cert: at("client.pem"),
    key: at("client.key"),
    ca: at("authority.pem"),
    serverName: "agents.example",
  };
  const settings = (tls: object | undefined) =>
    ({
      server: { host: "127.0.0.1", publicUrl: "https://server.example", tls },
      gateway: { port: 4100, publicUrl: "https://team.example/x" },
      agents: {
        swe: { isOwn: true, url: "https://10.0.0.7:4101", publicUrl: "https://swe.example" },
        far: { isOwn: false, url: "https://far.example", publicUrl: "https://farther.example" },
      },
    }) as unknown as Parameters<typeof openOwnTls>[0];
  expect(openOwnTls(settings(undefined))).toBeUndefined();
  const tlsOf = openOwnTls(settings({ client }));
  for (const own of ["127.0.0.1:4100", "server.example", "team.example", "10.0.0.7:4101", "swe.example"]) {
    const { ca, ...shown } = (await tlsOf?.(new URL(`https://${own}/any`))) ?? {};
    expect([own, shown]).toEqual([own, { cert: "the client.pem", key: "the client.key", names: ["agents.example"] }]);
    // A proxy in front may have a certificate that everybody trusts.
    expect([ca?.at(-1), (ca?.length ?? 0) > 1]).toEqual(["the authority.pem", true]);
  }
  for (const other of ["far.example", "farther.example", "127.0.0.1:4102", "swe.example:444", "example.com"])
    expect(await tlsOf?.(new URL(`https://${other}/any`))).toBeUndefined();
  expect(await openOwnTls(settings({ client: {} }))?.(new URL("https://swe.example"))).toEqual({ names: [] } as never);
});

/** A server that wants a certificate and says who has reached it. */
async function listener(heard: string[]) {
  const [cert, serverKey, clientCa] = [await text("server.pem"), await text("server.key"), await text("ca.pem")];
  return serve(
    {
      fetch(request) {
        heard.push(new URL(request.url).pathname);
        return request.method === "GET" ? Response.json({ keys: [key] }) : new Response(null, { status: 204 });
      },
    },
    { port: 0, graceMs: 100, tls: { cert, key: serverKey, clientCa } },
  );
}

test.skipIf(!hasOpenssl)(
  "with an authority of their own our servers notify each other and read each other's keys, with the certificate that is asked for; others are trusted as before",
  async () => {
    const heard: string[] = [];
    const [gateway, other] = [await listener(heard), await listener(heard)];
    try {
      const allowed = [gateway, other].map(({ url }) => JSON.stringify(url.host)).join(", ");
      await writeFile(
        join(folder, "manyhands.toml"),
        `[server.tls]
cert = "server.pem"
key = "server.key"
ca = "ca.pem"
client_ca = "ca.pem"
[gateway]
public_url = "https://127.0.0.1:${gateway.url.port}"
[agents.elsewhere]
url = "${other.url.origin}"
[egress]
allow = [${allowed}]
`,
      );
      const config = await loadConfig({ cwd: folder, env: {} });
      const webhooks = openWebhooks(config);
      const post = (to: URL) =>
        webhooks.post(`${to.origin}/doorbell`, { headers: {}, body: "{}" }, AbortSignal.timeout(20_000));
      expect(await post(gateway.url)).toBeUndefined();
      expect(await post(other.url)).toMatchObject({ final: false });
      const keys = openKeySets(config, (url) => url);
      const find = ({ origin }: URL) => keys.find(`${origin}/keys`, "k", origin);
      expect(await find(gateway.url)).toMatchObject({ kid: "k" });
      await expect(find(other.url)).rejects.toMatchObject({ code: "unavailable" });
      expect(heard).toEqual(["/doorbell", "/keys"]);
    } finally {
      await Promise.all([gateway.stop(), other.stop()]);
    }
  },
  60_000,
);
