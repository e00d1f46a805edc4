import { expect, test } from "bun:test";
import { generateAgentCardSignature } from "@a2a-js/sdk";
import { cardOf } from "../testing/card-server.ts";
import { type CardKey, signedCards } from "./card-policy.ts";

const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
const publicKey = { ...(await crypto.subtle.exportKey("jwk", pair.publicKey)), kid: "key-1" } as CardKey;
const sign = generateAgentCardSignature(pair.privateKey, { alg: "ES256", kid: "key-1", typ: "JOSE" });

const card = cardOf("Greeter", "http://127.0.0.1:1");

test("a card signed with a trusted key is accepted, and no later change to it", async () => {
  const signed = await sign(card);
  await signedCards([publicKey])(signed);
  const refusal = signedCards([publicKey])({ ...signed, description: "Something else." });
  await expect(refusal).rejects.toMatchObject({ code: "forbidden" });
});

test("no signature, an unknown key and an expired key are refused with the reason", async () => {
  const signed = await sign(card);
  await expect(signedCards([publicKey])(card)).rejects.toThrow("has no signature");
  await expect(signedCards([{ ...publicKey, kid: "key-2" }])(signed)).rejects.toThrow("not trusted here");
  await expect(signedCards([{ ...publicKey, exp: 1 }])(signed)).rejects.toThrow("has expired");
});

test("a card's link to its key is not followed", async () => {
  let asked = 0;
  await using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch() {
      asked++;
      return Response.json({ keys: [publicKey] });
    },
  });
  const header = { alg: "ES256", kid: "key-9", typ: "JOSE", jku: `http://127.0.0.1:${server.port}/keys` };
  const signed = await generateAgentCardSignature(pair.privateKey, header)(card);
  await expect(signedCards([publicKey])(signed)).rejects.toMatchObject({ code: "forbidden" });
  expect(asked).toBe(0);
});
