import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseServers } from "../servers/read-servers.ts";
import { isProgram } from "../servers/server-config.ts";
import { createCredentialStore, credentialsFile } from "./credential-store.ts";

const home = await mkdtemp(join(tmpdir(), "manyhands-credentials-"));
afterAll(() => rm(home, { recursive: true }));

test("two processes that store tokens at the same time keep them all", async () => {
  const entries = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`s${n}`, { url: `https://s${n}.example` }]));
  const servers = parseServers(JSON.stringify({ mcpServers: entries }), "mcp.json", {}).filter(
    (server) => !isProgram(server),
  );
  expect(servers).toHaveLength(10);
  await Promise.all(
    servers.map((server) =>
      createCredentialStore(credentialsFile(home)).write(server, {
        tokens: { access_token: server.name, token_type: "bearer" },
      }),
    ),
  );
  const kept = await Promise.all(servers.map((server) => createCredentialStore(credentialsFile(home)).read(server)));
  expect(kept.map((one) => one?.tokens?.access_token)).toEqual(Object.keys(entries));
});

const at = (name: string, url: string) => {
  const [server] = parseServers(JSON.stringify({ mcpServers: { [name]: { url } } }), "mcp.json", {});
  if (server === undefined || isProgram(server)) throw new Error("There is no such server.");
  return server;
};
const tokenOf = (token: string) => ({ tokens: { access_token: token, token_type: "bearer" } });

test("credentials are one principal's, for one server at one address, and deleted alone", async () => {
  const own = join(home, "own");
  const [mine, bobs] = [
    createCredentialStore(credentialsFile(own)),
    createCredentialStore(credentialsFile(own), "bob"),
  ];
  const server = at("s", "https://s.example");
  await mine.write(server, { ...tokenOf("mine"), client: { client_id: "c" }, wanted: "more" });
  await bobs.write(server, tokenOf("bob's"));
  expect(await createCredentialStore(credentialsFile(own), "local").read(server)).toEqual({
    ...tokenOf("mine"),
    client: { client_id: "c" },
    wanted: "more",
  });
  for (const other of [
    at("s", "https://s.example:8443"),
    at("s", "https://s.example/other"),
    at("s", "https://t.example"),
    at("t", "https://s.example"),
  ])
    expect(await mine.read(other)).toBeUndefined();
  await mine.write(server, undefined);
  expect([await mine.read(server), await bobs.read(server)]).toEqual([undefined, tokenOf("bob's")]);
});

test("what is stored is sealed anew each time, and a change to it is noticed", async () => {
  const own = join(home, "sealed");
  const store = createCredentialStore(credentialsFile(own));
  const server = at("s", "https://s.example");
  const sealed: Buffer[] = [];
  for (let n = 0; n < 2; n++) {
    await store.write(server, tokenOf("secret-token"));
    sealed.push(Buffer.from(await Bun.file(join(own, "mcp-credentials")).bytes()));
  }
  const [first, second] = sealed as [Buffer, Buffer];
  expect(first.includes("secret-token")).toBe(false);
  expect(first.subarray(0, 12)).not.toEqual(second.subarray(0, 12));
  second.writeUInt8(second.readUInt8(20) ^ 1, 20);
  await Bun.write(join(own, "mcp-credentials"), second);
  await expect(store.read(server)).rejects.toMatchObject({ code: "config_invalid" });
  // Another attempt is not kept from its turn by one that failed.
  await expect(store.write(server, tokenOf("x"))).rejects.toMatchObject({ code: "config_invalid" });
  await Bun.write(join(own, "mcp-credentials"), first);
  await store.write(server, tokenOf("x"));
  expect(await store.read(server)).toEqual(tokenOf("x"));
});
