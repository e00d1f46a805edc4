import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bearerCredentials } from "../../a2a/client/credentials.ts";
import { loadConfig } from "../config.ts";
import { ownCredentials } from "./credentials.ts";

const cwd = await mkdtemp(join(tmpdir(), "credentials-config-"));
afterAll(() => rm(cwd, { recursive: true }));

const env = { FAR_SECRET: "of-far" };
const load = async (auth: string, head = 'url = "https://far.example"') => {
  await writeFile(join(cwd, "manyhands.toml"), `[peers.far]\n${head}\n[peers.far.auth]\n${auth}\n`);
  return (await loadConfig({ cwd, env })).peers.far?.credentials;
};

test("an agent's credentials are read from its table, its secrets from the file, a variable or a file of their own", async () => {
  expect(await load('kind = "bearer"\nsecret_env = "FAR_SECRET"')).toEqual({
    identity: { kind: "bearer", secret: { text: "of-far" } },
  });
  expect(await load('kind = "api_key"\nsecret_file = "far.key"')).toEqual({
    identity: { kind: "api_key", header: "X-API-Key", secret: { file: join(cwd, "far.key") } },
  });
  const token = 'token_url = "https://login.example/token"';
  expect(await load(`kind = "oauth"\n${token}\nclient_id = "me"\nsecret = "s"\nscopes = ["ask"]`)).toMatchObject({
    identity: { kind: "oauth", tokenUrl: "https://login.example/token", clientId: "me", scopes: ["ask"] },
  });
  expect(await load(`kind = "token_exchange"\n${token}\nsubject_env = "FAR_SECRET"\naudience = "a"`)).toMatchObject({
    identity: { kind: "token_exchange", subject: { text: "of-far" }, audience: "a" },
  });
  expect(await load('cert = "c.pem"\nkey = "k.pem"')).toEqual({
    tls: { cert: join(cwd, "c.pem"), key: join(cwd, "k.pem"), ca: undefined },
  });
});

test("keys that do not belong together are refused with the place, and no message holds a secret", async () => {
  const secret = "do-not-show";
  for (const [auth, words, head] of [
    ['kind = "bearer"', "needs secret, secret_env or secret_file"],
    [`kind = "bearer"\nsecret = "${secret}"\nclient_id = "x"`, "has no client_id"],
    [`kind = "oauth"\nsecret = "${secret}"`, "needs token_url"],
    [`secret = "${secret}"`, "without kind has no secret"],
    ['cert = "c.pem"', "cert and key, or neither"],
    ['key = "k.pem"', "cert and key, or neither"],
    ['kind = "bearer"\nsecret_env = "NOT_SET"', "secret_env names NOT_SET, which is not set"],
    [`kind = "bearer"\nsecret = "${secret}"\nsecret_file = "x"`, "has secret twice"],
    [`kind = "bearer"\nsecret = "${secret}"`, "beside token", 'url = "https://far.example"\ntoken = "t"'],
    ['ca = "c.pem"', "beside token", 'url = "https://far.example"\ntoken = "t"'],
  ] as const) {
    const error = await load(auth, head).then(String, String);
    expect(error).toContain(words);
    expect(error).toContain("manyhands.toml, line");
    expect(error).not.toContain(secret);
  }
});

const url = 'token_url = "https://login.example/token"';
const kinds: Record<string, readonly string[]> = {
  bearer: ['secret = "s"'],
  api_key: ['secret = "s"', 'header = "X-Key"'],
  oauth: ['secret = "s"', url, 'client_id = "me"', 'scopes = ["ask"]', 'audience = "a"'],
  token_exchange: ['subject = "u"', url, 'secret = "s"', 'client_id = "me"', 'scopes = ["ask"]', 'audience = "a"'],
};
const lines = [...new Set(Object.values(kinds).flat())];
const cases = Object.entries(kinds).flatMap(([kind, own]) =>
  lines.map((line) => [kind, line, own.includes(line)] as const),
);

test.each(cases)("of kind %s, `%s` belongs to an agent's credentials: %p", async (kind, line, belongs) => {
  const needed = { bearer: 1, api_key: 1, oauth: 3, token_exchange: 2 }[kind];
  const rest = (kinds[kind] ?? []).slice(0, needed).filter((one) => one !== line);
  const error = await load([`kind = "${kind}"`, ...rest, line].join("\n")).then(() => undefined, String);
  if (belongs) expect(error).toBeUndefined();
  else expect(error).toContain(`of kind "${kind}" has no ${line.split(" ")[0]}`);
});

test("every key of a kind reaches its credentials", async () => {
  const [own, away] = [kinds.token_exchange ?? [], kinds.api_key ?? []];
  expect(await load(['kind = "token_exchange"', ...own, 'ca = "ca.pem"'].join("\n"))).toEqual({
    identity: {
      ...{ kind: "token_exchange", subject: { text: "u" }, secret: { text: "s" }, clientId: "me", audience: "a" },
      ...{ tokenUrl: "https://login.example/token", scopes: ["ask"] },
    },
    tls: { cert: undefined, key: undefined, ca: join(cwd, "ca.pem") },
  });
  expect(await load(['kind = "api_key"', ...away].join("\n"))).toEqual({
    identity: { kind: "api_key", secret: { text: "s" }, header: "X-Key" },
  });
});

test("our own servers are shown the token, the certificate, both or nothing", () => {
  const client = { cert: "c.pem", key: "k.pem", ca: undefined };
  const none = { token: undefined, tls: undefined };
  expect(ownCredentials(none)).toBeUndefined();
  expect(ownCredentials({ ...none, tls: { client } })).toEqual({ tls: client });
  expect(Object.keys(ownCredentials({ ...none, token: "t" }) ?? {})).not.toContain("tls");
  expect(ownCredentials({ token: "t", tls: { client } })).toMatchObject({ tls: client, identity: { kind: "bearer" } });
});

test("an agent that wants credentials of its own is not of this system, even where the table is that of one of its agents", async () => {
  const isOwn = async (more: string) => {
    await writeFile(join(cwd, "manyhands.toml"), `[agents.manus]\nurl = "http://127.0.0.1:4501"\n${more}\n`);
    return (await loadConfig({ cwd, env })).agents.manus?.isOwn;
  };
  expect(await isOwn("")).toBe(true);
  expect(await isOwn('[agents.manus.auth]\ncert = "c.pem"\nkey = "k.pem"')).toBe(true);
  expect(await isOwn('[agents.manus.auth]\nkind = "bearer"\nsecret = "s"')).toBe(false);
});

test("a table of credentials that is empty is none, and this system's own token may stand beside one", async () => {
  expect(await load("", 'url = "https://far.example"\ntoken = "theirs"')).toEqual(bearerCredentials("theirs"));
  const token = { ...env, MANYHANDS_TOKEN: "long-enough" };
  await writeFile(join(cwd, "manyhands.toml"), '[agents.swe.auth]\nkind = "bearer"\nsecret = "its-own"\n');
  const { agents } = await loadConfig({ cwd, env: token });
  expect(agents.swe?.credentials).toEqual(bearerCredentials("its-own"));
});
