import { expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../config.ts";
import { engineText } from "./engine-config.ts";

const url = "postgres://ann:pa55word@db.example/runs";
const restate = { MANYHANDS_ENGINE_RESTATE_INGRESS: "http://r:8080/", MANYHANDS_ENGINE_RESTATE_ADMIN: "http://r:9070" };

async function load(toml: string, env: Record<string, string> = {}) {
  const cwd = await mkdtemp(join(tmpdir(), "manyhands-engine-"));
  try {
    await writeFile(join(cwd, "manyhands.toml"), toml);
    return (await loadConfig({ cwd, env })).engine;
  } finally {
    await rm(cwd, { recursive: true });
  }
}

test("without settings the engine is embedded", async () => {
  expect(await load("")).toEqual({ kind: "embedded" });
});

test("an engine elsewhere has its defaults, and is shown without its password", async () => {
  const postgres = await load('[engine]\nkind = "postgres"', { MANYHANDS_ENGINE_URL: url });
  expect(postgres).toEqual({ kind: "postgres", url, schema: "manyhands", connections: 10, otherSecretKeys: [] });
  expect(engineText(postgres, "home")).toBe("PostgreSQL at db.example/runs, schema manyhands");
  const both = await load(`[engine]\nkind = "restate"\nurl = "${url}"`, restate);
  expect(both).toMatchObject({ restate: { ingress: ["http://r:8080"], admin: "http://r:9070", host: "127.0.0.1" } });
  expect(engineText(both, "home")).toBe(
    "Restate at http://r:8080, with PostgreSQL at db.example/runs, schema manyhands",
  );
});

test("all that is set for an engine elsewhere reaches it", async () => {
  const [key, other] = ["k".repeat(32), "o".repeat(32)];
  const store = `kind = "restate"\nurl = "${url}"\nschema = "s"\nconnections = 3\nsecret_key = "${key}"\nother_secret_keys = ["${other}"]`;
  const set = `[engine]\n${store}\nrestate.port = 9180\nrestate.public_url = "http://us:9180"\nrestate.identity_keys = ["publickeyv1_x"]`;
  expect(await load(set, { HOST: "0.0.0.0", MANYHANDS_TOKEN: "long-enough", ...restate })).toEqual({
    kind: "restate",
    url,
    schema: "s",
    connections: 3,
    otherSecretKeys: [other],
    secretKey: key,
    restate: {
      ingress: ["http://r:8080"],
      admin: "http://r:9070",
      host: "0.0.0.0",
      port: 9180,
      publicUrl: "http://us:9180",
      identityKeys: ["publickeyv1_x"],
    },
  });
  for (const { MANYHANDS_ENGINE_RESTATE_INGRESS: ingress, MANYHANDS_ENGINE_RESTATE_ADMIN: admin } of [restate])
    for (const half of [`ingress = ["${ingress}"]`, `admin = "${admin}"`])
      await expect(load(`[engine]\nkind = "restate"\nurl = "${url}"\nrestate.${half}`)).rejects.toThrow("needs engine");
});

test("what is missing, contradictory or without effect is refused by its setting's name, without the password", async () => {
  const far = { HOST: "0.0.0.0", MANYHANDS_TOKEN: "long-enough", MANYHANDS_ENGINE_URL: url, ...restate };
  for (const [toml, env, why] of [
    ['[engine]\nkind = "postgres"', {}, 'manyhands.toml, line 2: engine.kind "postgres" needs a database'],
    [`[engine]\nurl = "${url}"`, {}, "engine.url has no effect while engine.kind is"],
    ['[engine]\nkind = "postgres"', { MANYHANDS_ENGINE_URL: url, ...restate }, "engine.restate.ingress has no effect"],
    [
      '[engine]\nkind = "restate"',
      { MANYHANDS_ENGINE_URL: url },
      "needs engine.restate.ingress and engine.restate.admin",
    ],
    [
      '[engine]\nkind = "postgres"\nrestate.identity_keys = ["publickeyv1_x"]',
      { MANYHANDS_ENGINE_URL: url },
      "engine.restate.identity_keys has no effect",
    ],
    ['[engine]\nkind = "restate"', far, "engine.restate.identity_keys is needed"],
    [
      '[engine]\nkind = "restate"\nrestate.public_url = "http://us:9180"',
      far,
      "engine.restate.identity_keys is needed",
    ],
    [
      '[engine]\nkind = "restate"\nrestate.identity_keys = ["publickeyv1_x"]',
      far,
      "engine.restate.public_url has to say",
    ],
    [
      '[engine]\nkind = "postgres"',
      { MANYHANDS_ENGINE_URL: url, MANYHANDS_ENGINE_OTHER_SECRET_KEYS: "a former key of 32 characters or more" },
      "engine.other_secret_keys only adds to engine.secret_key",
    ],
    ['[engine]\nkind = "mysql"', {}, "engine.kind cannot be"],
    ['[engine]\nkind = "postgres"', { MANYHANDS_ENGINE_URL: "mysql://ann:pa55word@db/runs" }, "engine.url cannot be"],
  ] as const) {
    const { code, message } = await load(toml, env).catch((error) => error);
    expect([code, message.includes(why), message.includes("pa55word")]).toEqual(["config_invalid", true, false]);
  }
});
