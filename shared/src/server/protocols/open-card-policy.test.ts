import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateAgentCardSignature } from "@a2a-js/sdk";
import { signCard } from "../../a2a/signing/card-signature.ts";
import { keyFiles, openHomeKeys } from "../../a2a/signing/home-keys.ts";
import type { PublicKey } from "../../a2a/signing/public-key.ts";
import { loadConfig } from "../../config/config.ts";
import { cardOf } from "../../testing/a2a/card.ts";
import { openCardPolicy, openKeySets } from "./open-card-policy.ts";

const folder = await mkdtemp(join(tmpdir(), "manyhands-card-policy-"));
afterAll(() => rm(folder, { recursive: true }));

const card = cardOf("Greeter", "http://127.0.0.1:1");
async function signer(kid: string) {
  const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
  const publicKey = { ...(await crypto.subtle.exportKey("jwk", pair.publicKey)), kid } as PublicKey;
  await writeFile(join(folder, `${kid}.json`), JSON.stringify({ keys: [publicKey] }));
  const signed = (more: object = {}) =>
    generateAgentCardSignature(pair.privateKey, { alg: "ES256", kid, typ: "JOSE", ...more })(card);
  return { publicKey, signed };
}
const [here, there, anywhere] = [await signer("here"), await signer("there"), await signer("anywhere")];
const own = await openHomeKeys(keyFiles(folder));

async function configured(toml: string) {
  const cwd = await mkdtemp(join(folder, "cwd-"));
  await writeFile(join(cwd, "manyhands.toml"), toml);
  return loadConfig({ cwd, env: { MANYHANDS_HOME: join(cwd, "home") } });
}

test("each agent and peer is held to its own table, all others to that of the system, and cards of this home are always good", async () => {
  const config = await configured(`
[gateway]
card_keys = "${folder}/anywhere.json"
[agents.near]
url = "http://127.0.0.1:1"
card_keys = "${folder}/here.json"
[agents.open]
url = "http://127.0.0.1:1"
card_policy = "unsigned"
[peers.far]
url = "http://127.0.0.1:1"
card_keys = "${folder}/there.json"
`);
  const policy = await openCardPolicy(
    config,
    own,
    openKeySets(config, (url) => url),
  );
  const cards = {
    here: await here.signed(),
    there: await there.signed(),
    anywhere: await anywhere.signed(),
    unsigned: card,
    own: await signCard(card, await own.ring(), "http://127.0.0.1:1/keys"),
  };
  const admitted = async (name: string) => {
    const all: string[] = [];
    for (const [kind, one] of Object.entries(cards))
      await policy(one, { name, url: "http://127.0.0.1:1" }).then(
        () => all.push(kind),
        (error) => expect(error.code).toBe("forbidden"),
      );
    return all;
  };
  expect(await admitted("near")).toEqual(["here", "own"]);
  expect(await admitted("far")).toEqual(["there", "own"]);
  expect(await admitted("stranger")).toEqual(["anywhere", "own"]);
  expect(await admitted("open")).toEqual(Object.keys(cards));
});

test("a file of keys that is not there ends the start", async () => {
  const config = await configured(`
[peers.far]
url = "http://127.0.0.1:1"
card_keys = "${folder}/missing.json"
`);
  await expect(
    openCardPolicy(
      config,
      own,
      openKeySets(config, (url) => url),
    ),
  ).rejects.toMatchObject({
    code: "config_invalid",
  });
});

test("keys that a card links to are read within the settings: from its server or a listed one, at its address from here", async () => {
  const asked: string[] = [];
  const keys = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      asked.push(new URL(request.url).pathname);
      return Response.json({ keys: [here.publicKey] });
    },
  });
  const origin = keys.url.origin;
  const admitted = async (toml: string, jku: string, url: string, inside = (address: string) => address) => {
    const config = await configured(`[a2a]\ncard_policy = "must-be-signed"\n${toml}`);
    const policy = await openCardPolicy(config, own, openKeySets(config, inside));
    return policy(await here.signed({ jku }), { name: "stranger", url });
  };
  const elsewhere = "https://elsewhere.example";
  try {
    await admitted("", `${origin}/own`, origin);
    await expect(admitted("", `${origin}/refused`, elsewhere)).rejects.toThrow("key_origins");
    await admitted(`key_origins = ["${origin}"]`, `${origin}/listed`, elsewhere);
    const inside = (address: string) => address.replace(elsewhere, origin);
    await admitted("", `${elsewhere}/mapped`, elsewhere, inside);
    await expect(admitted(`[egress]\ndeny = ["127.0.0.1"]`, `${origin}/denied`, origin)).rejects.toThrow("deny list");
    expect(asked).toEqual(["/own", "/listed", "/mapped"]);
  } finally {
    await keys.stop(true);
  }
});
