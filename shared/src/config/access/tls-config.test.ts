import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasOpenssl, testAuthority } from "../../testing/certificates.ts";
import { loadConfig } from "../config.ts";

const folder = await mkdtemp(join(tmpdir(), "manyhands-tls-"));
afterAll(() => rm(folder, { recursive: true }));
const withOpenssl = test.skipIf(!hasOpenssl);

beforeAll(async () => {
  if (!hasOpenssl)
    return console.warn("skipped: openssl is not installed, which makes the certificates of these tests");
  const authority = await testAuthority(folder);
  await authority.issue("server", { names: "DNS:*.example.com,IP:10.0.0.5" });
  await authority.issue("numbered", { names: "IP:10.0.0.5" });
  await authority.issue("web", { names: "DNS:agents.example.com", usage: "serverAuth" });
  await writeFile(join(folder, "empty.pem"), "");
  await copyFile(join(folder, "ca.key"), join(folder, "other.key"));
});

function load(tls: string, more = "") {
  const env = { MANYHANDS_SERVER_TOKEN: "long-enough" };
  return writeFile(join(folder, "manyhands.toml"), `${more}\n[server.tls]\n${tls}\n`).then(() =>
    loadConfig({ cwd: folder, env }),
  );
}

const pair = 'cert = "server.pem"\nkey = "server.key"';

withOpenssl("with a certificate every address of ours is https, and our own client knows whose it is", async () => {
  const { server, agents } = await load(`${pair}\nca = "ca.pem"`);
  expect(agents.manus?.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  expect(server.tls?.cert).toContain("BEGIN CERTIFICATE");
  expect(server.tls?.key).toContain("PRIVATE KEY");
  expect(server.tls?.clientCa).toBeUndefined();
  const tls = { ca: join(folder, "ca.pem"), serverName: "manyhands.example.com" };
  expect(agents.manus?.credentials).toEqual({
    identity: { kind: "bearer", secret: { text: "long-enough" } },
    tls,
  });
  const known = await load(pair);
  expect(known.agents.manus?.credentials?.tls).toEqual({ serverName: "manyhands.example.com" });
  const numbered = await load(pair.replaceAll("server.", "numbered."));
  expect(numbered.agents.manus?.credentials?.tls).toEqual({ serverName: "10.0.0.5" });
  // Nobody asks for the certificate that clients could show.
  const shown = await load(`${pair}\nclient_cert = "server.pem"\nclient_key = "server.key"`);
  expect(shown.agents.manus?.credentials?.tls).toEqual({ serverName: "manyhands.example.com" });
  const self = await load('cert = "ca.pem"\nkey = "ca.key"');
  expect(self.agents.manus?.credentials?.tls).toMatchObject({ ca: join(folder, "ca.pem") });
  const far = await load(`${pair}\nca = "ca.pem"`, '[agents.far]\nurl = "https://far.example"');
  expect(far.agents.far?.credentials).toBeUndefined();
  const own = await load(`${pair}\nca = "ca.pem"`, '[agents.manus.auth]\nca = "other.pem"');
  expect(own.agents.manus?.credentials?.tls).toEqual({
    ca: join(folder, "other.pem"),
    cert: undefined,
    key: undefined,
  });
});

withOpenssl("a client authority has our own client show a certificate that is good for clients", async () => {
  const mutual = `${pair}\nca = "ca.pem"\nclient_ca = "ca.pem"`;
  const { server, agents } = await load(mutual);
  expect(server.tls?.clientCa).toBe(await Bun.file(join(folder, "ca.pem")).text());
  const shown = agents.manus?.credentials?.tls;
  expect(shown).toMatchObject({ cert: join(folder, "server.pem"), key: join(folder, "server.key") });
  const web = mutual.replaceAll("server.", "web.");
  await expect(load(web)).rejects.toThrow("server.tls.cert cannot be shown to our own servers");
  const other = await load(`${web}\nclient_cert = "server.pem"\nclient_key = "server.key"`);
  expect(other.agents.manus?.credentials?.tls).toMatchObject({ cert: join(folder, "server.pem") });
});

withOpenssl("a file that is missing, is none or does not fit is refused by its setting's name", async () => {
  for (const [tls, why] of [
    ['cert = "server.pem"', "[server.tls] has cert and key, or neither"],
    ['client_ca = "ca.pem"', "[server.tls] has cert and key, or neither"],
    [`${pair}\nclient_cert = "server.pem"`, "[server.tls] has client_cert and client_key, or neither"],
    [pair.replace("server.pem", "gone.pem"), "server.tls.cert cannot be"],
    [pair.replace("server.pem", "empty.pem"), "server.tls.cert cannot be"],
    [pair.replace("server.key", "gone.key"), "server.tls.key cannot be"],
    [pair.replace("server.key", "server.pem"), "server.tls.key cannot be"],
    [pair.replace("server.key", "other.key"), "server.tls.key is the key of another certificate"],
    [
      `${pair}\nclient_cert = "web.pem"\nclient_key = "server.key"`,
      "server.tls.client_key is the key of another certificate",
    ],
    [`${pair}\nclient_ca = "server.key"`, "server.tls.client_ca cannot be"],
    [`${pair}\nca = "gone.pem"`, "line 5: server.tls.ca cannot be"],
    [`${pair}\nca = "server.key"`, "server.tls.ca cannot be"],
    [`${pair}\nclient_key = "server.key"`, "[server.tls] has client_cert and client_key, or neither"],
    [`${pair}\nclient_cert = "server.key"\nclient_key = "server.key"`, "server.tls.client_cert cannot be"],
    [`${pair}\nclient_cert = "server.pem"\nclient_key = "server.pem"`, "server.tls.client_key cannot be"],
  ] as const)
    await expect(load(tls)).rejects.toMatchObject({ code: "config_invalid", message: expect.stringContaining(why) });
});

withOpenssl("client certificates are authentication enough for others to reach a server", async () => {
  await writeFile(join(folder, "manyhands.toml"), `[server.tls]\n${pair}\nca = "ca.pem"\n`);
  const env = { HOST: "0.0.0.0" };
  await expect(loadConfig({ cwd: folder, env })).rejects.toThrow("no token is set");
  const asked = await loadConfig({ cwd: folder, env: { ...env, MANYHANDS_SERVER_TLS_CLIENT_CA: "ca.pem" } });
  expect(asked.server.token).toBeUndefined();
});
