import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { AgentCard } from "@a2a-js/sdk";
import { decodeProtectedHeader } from "jose";
import { FlattenedSign } from "jose/jws/flattened/sign";
import { cardOf } from "../../testing/a2a/card.ts";
import { cardPolicy } from "./card-policy.ts";
import { keyOfSignature, problemOfSignature, signCard } from "./card-signature.ts";
import type { SigningKey } from "./home-keys.ts";
import type { PublicKey } from "./public-key.ts";

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const key = { ...publicKey.export({ format: "jwk" }), kid: "key-1", alg: "ES256", use: "sig" } as PublicKey;
const ring = [{ alg: "ES256", key: privateKey, publicKey: key }] as const satisfies readonly SigningKey[];
const card = cardOf("Greeter", "http://127.0.0.1:1");
const jku = "https://example.com/keys";

/** A signature over exactly this text, as another implementation makes it. */
async function signatureOver(text: string, header: object = { kid: "key-1" }) {
  const jws = new FlattenedSign(new TextEncoder().encode(text)).setProtectedHeader({ alg: "ES256", ...header });
  const { protected: head = "", signature } = await jws.sign(privateKey);
  return { protected: head, signature, header: undefined };
}

test("a signature says its algorithm, its key and where that is published", async () => {
  const { signatures } = await signCard(card, ring, jku);
  for (const signature of signatures) {
    expect(decodeProtectedHeader({ protected: signature.protected })).toEqual({
      alg: "ES256",
      kid: "key-1",
      typ: "JOSE",
      jku,
    });
    expect(keyOfSignature(signature)).toEqual({ kid: "key-1", jku });
  }
});

const sparse = {
  supportedInterfaces: [{ url: "http://a.example" }, { protocolBinding: "GRPC", protocolVersion: "1.0" }],
  skills: [{ id: "greet" }, { name: "Leave", description: "Says bye.", tags: ["b", "a"] }],
  capabilities: { extensions: [{ uri: "urn:x", params: { b: [null, 1], a_: "", B: { z: 1, Z: 2 } } }] },
  provider: { url: "https://é.example", organization: 'A "quoted" one' },
};
const specified =
  '{"capabilities":{"extensions":[{"params":{"B":{"Z":2,"z":1},"a_":"","b":[null,1]},"uri":"urn:x"}]},"defaultInputModes":[],"defaultOutputModes":[],"description":"","name":"",' +
  '"provider":{"organization":"A \\"quoted\\" one","url":"https://é.example"},' +
  '"skills":[{"description":"","id":"greet","name":"","tags":[]},' +
  '{"description":"Says bye.","id":"","name":"Leave","tags":["b","a"]}],' +
  '"supportedInterfaces":[{"protocolBinding":"","protocolVersion":"","url":"http://a.example"},' +
  '{"protocolBinding":"GRPC","protocolVersion":"1.0","url":""}],"version":""}';

test("the specification's form keeps every required field, in the order of RFC 8785", async () => {
  const signature = await signatureOver(specified);
  expect(await problemOfSignature(signature, AgentCard.fromJSON(sparse), key, 0)).toBeUndefined();
  for (const changed of [specified.replace('"version":""', '"version":"1"'), specified.replace('"b","a"', '"a","b"')])
    expect(await problemOfSignature(await signatureOver(changed), AgentCard.fromJSON(sparse), key, 0)).toContain(
      "signature verification failed",
    );
});

test("a signature is made in both forms of a sparse card, and once where they are the same", async () => {
  expect((await signCard(card, ring, jku)).signatures).toHaveLength(1);
  expect((await signCard(AgentCard.fromJSON(sparse), ring, jku)).signatures).toHaveLength(2);
});

const reasonFor = (signatures: readonly AgentCard["signatures"][number][]) =>
  cardPolicy({ trust: () => ({ demand: "must-be-signed", keys: [key] }) })(
    { ...card, signatures: [...signatures] },
    { name: "greeter", url: "http://127.0.0.1:1" },
  ).then(
    () => "accepted",
    ({ message }: Error) => message,
  );

test("the first sixteen signatures of a card are looked at, any of which may hold", async () => {
  const [good] = (await signCard(card, ring, jku)).signatures;
  const bad = await signatureOver("{}", { kid: "key-2" });
  if (good === undefined) throw new Error("no signature");
  expect(await reasonFor([...Array<typeof bad>(15).fill(bad), good])).toBe("accepted");
  expect(await reasonFor([...Array<typeof bad>(16).fill(bad), good])).toContain("not trusted here");
});

test("why each signature does not hold is said, every reason once", async () => {
  const noKey = await signatureOver("{}", {});
  const broken = { protected: "%%", signature: "AA", header: undefined };
  const reason = await reasonFor([noKey, noKey, broken]);
  expect(reason).toMatch(/its card has a signature without the id of its key; an invalid signature \(.+\)\. Ask/);
  expect(reason).not.toContain("Error:");
});
