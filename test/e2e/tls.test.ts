import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { credentials, status } from "@grpc/grpc-js";
import { freePort } from "manyhands/internal/http/free-port";
import { hasOpenssl, testAuthority } from "manyhands/internal/testing/certificates";
import { bareEnvironment } from "manyhands/internal/testing/machine/bare-environment";
import { startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { failureOf, grpcClient, grpcMessage } from "../a2a/grpc-client.ts";
import { until } from "../servers/gateway-server.ts";

const main = resolve(import.meta.dir, "../../gateway/src/main.ts");
const folder = mkdtempSync(join(tmpdir(), "manyhands-tls-"));
const file = (name: string) => Bun.file(join(folder, name)).text();
const withOpenssl = test.skipIf(!hasOpenssl);

beforeAll(async () => {
  if (!hasOpenssl)
    return console.warn("skipped: openssl is not installed, which makes the certificates of these tests");
  const authority = await testAuthority(folder);
  // Its name is the one from outside: the servers reach each other on loopback all the same.
  await authority.issue("server", { names: "DNS:agents.example.com", usage: "serverAuth" });
  await authority.issue("ours", { names: "DNS:ours" });
  await authority.issue("laptop", { names: "DNS:laptop", usage: "clientAuth" });
});
afterAll(() => rm(folder, { recursive: true }));

const settings = `home = "state"
[server.tls]
cert = "server.pem"
key = "server.key"
ca = "ca.pem"
client_ca = "ca.pem"
client_cert = "ours.pem"
client_key = "ours.key"
[agents.browser]
enabled = false
[agents.swe]
enabled = false
[agents.data-analysis]
enabled = false
[agents.manus]
delegates = []
`;

withOpenssl(
  "under start, agents and gateway speak https to each other and to callers with a certificate, and to nobody else",
  async () => {
    await writeFile(join(folder, "manyhands.toml"), settings);
    const model = await startScriptedModel(() => ({ text: "Heard over TLS." }));
    const ports = { GATEWAY_PORT: `${freePort()}`, MANUS_PORT: `${freePort()}` };
    const grpcPorts = {
      MANYHANDS_GATEWAY_GRPC_PORT: `${freePort()}`,
      MANYHANDS_AGENTS_MANUS_GRPC_PORT: `${freePort()}`,
    };
    const env = {
      ...bareEnvironment(),
      NO_COLOR: "1",
      SANDBOX: "off",
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: "none",
      MANYHANDS_MODEL: "scripted",
      ...ports,
      ...grpcPorts,
    };
    const begin = (...args: string[]) =>
      Bun.spawn([process.execPath, main, ...args], {
        cwd: folder,
        env,
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
    const manyhands = async (...args: string[]) => {
      const child = begin(...args);
      const [out, said] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      return { exitCode: await child.exited, out, said };
    };
    const system = begin("start");
    try {
      let said = "";
      for await (const chunk of system.stderr) {
        said += new TextDecoder().decode(chunk);
        if (/^(Up|.*Given up)/m.test(said)) break;
      }
      expect(said).toContain("Up. ");
      expect(said).toContain(`https://127.0.0.1:${ports.MANUS_PORT}  ·  model scripted`);

      const flow = await manyhands("flow", "sequential", "--agents", "manus", "Say something");
      expect(flow).toMatchObject({ exitCode: 0, out: expect.stringContaining("Heard over TLS.") });
      const run = await manyhands("run", "--agent", "manus", "Say something");
      expect(run).toMatchObject({ exitCode: 0, out: expect.stringContaining("Heard over TLS.") });
      expect((await manyhands("agents")).out).toMatch(/manus .*up/);

      const laptop = {
        ca: await file("ca.pem"),
        cert: await file("laptop.pem"),
        key: await file("laptop.key"),
        serverName: "agents.example.com",
      };
      const { cert: _, key: __, ...nobody } = laptop;
      const manus = `https://127.0.0.1:${ports.MANUS_PORT}`;
      const card = await (await fetch(`${manus}/.well-known/agent-card.json`, { tls: laptop })).text();
      expect(JSON.parse(card)).toMatchObject({
        supportedInterfaces: expect.arrayContaining([
          expect.objectContaining({ url: expect.stringContaining(manus), protocolBinding: "JSONRPC" }),
          expect.objectContaining({
            url: `127.0.0.1:${grpcPorts.MANYHANDS_AGENTS_MANUS_GRPC_PORT}`,
            protocolBinding: "GRPC",
          }),
        ]),
        securitySchemes: { mutualTls: { mtlsSecurityScheme: {} } },
      });
      for (const port of Object.values(ports)) {
        const ready = `https://127.0.0.1:${port}/readyz`;
        await until(async () => (await fetch(ready, { tls: laptop })).status === 200);
        await expect(fetch(ready, { tls: nobody })).rejects.toThrow();
        await expect(fetch(ready.replace("https", "http"))).rejects.toThrow();
        await expect(fetch(ready, { tls: { ...laptop, ca: await file("ours.pem") } })).rejects.toThrow();
      }

      const name = "agents.example.com";
      const [ca, cert, key] = [laptop.ca, laptop.cert, laptop.key].map((text) => Buffer.from(text));
      if (ca === undefined || cert === undefined || key === undefined) throw new Error("a file is missing");
      for (const [tenant, port] of [
        ["sequential", grpcPorts.MANYHANDS_GATEWAY_GRPC_PORT],
        ["", grpcPorts.MANYHANDS_AGENTS_MANUS_GRPC_PORT],
      ] as const) {
        using known = grpcClient(`127.0.0.1:${port}`, { secured: credentials.createSsl(ca, key, cert), name });
        const ask = { ...grpcMessage("Say something"), tenant };
        const settings = { metadata: { "manyhands/flow": { agents: ["manus"] } } };
        if (tenant !== "") ask.message = { ...ask.message, ...settings };
        expect(JSON.stringify(await known.call("sendMessage", ask))).toContain("Heard over TLS.");
        for (const secured of [credentials.createSsl(ca), credentials.createInsecure()]) {
          using unknown = grpcClient(`127.0.0.1:${port}`, { secured, name });
          const refused = unknown.call("getTask", { tenant, id: "none" }, { deadline: Date.now() + 5_000 });
          expect([status.UNAVAILABLE, status.DEADLINE_EXCEEDED]).toContain((await failureOf(refused)).code);
        }
      }
    } finally {
      system.kill("SIGTERM");
      await system.exited;
      await model.close();
    }
  },
);

withOpenssl(
  "a command that starts its own servers does so over TLS, and a wrong file ends it by its setting's name",
  async () => {
    const begin = (tls: string) => writeFile(join(folder, "manyhands.toml"), `[server.tls]\n${tls}\n`);
    const run = async () => {
      const env = {
        ...bareEnvironment(),
        NO_COLOR: "1",
        MANYHANDS_HOME: join(folder, "passing"),
        MANUS_PORT: `${freePort()}`,
      };
      const child = Bun.spawn([process.execPath, main, "run", "--json", "write a poem"], {
        cwd: folder,
        env,
        stdout: "pipe",
        stderr: "pipe",
      });
      const [out, said] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      return { exitCode: await child.exited, out, said };
    };
    await begin('cert = "server.pem"\nkey = "server.key"\nca = "ca.pem"');
    // The rehearsal model knows no poems, and says so.
    expect(await run()).toMatchObject({ exitCode: 1, out: expect.stringContaining("OPENAI_API_KEY") });
    await begin('cert = "server.pem"\nkey = "gone.key"\nca = "ca.pem"');
    expect(await run()).toMatchObject({ exitCode: 2, said: expect.stringContaining("server.tls.key") });
  },
);
