import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { join } from "node:path";
import { type AgentCard, type AgentCardSignature, canonicalizeAgentCard } from "@a2a-js/sdk";
import * as z from "zod";
import { ownSecret } from "../../machine/own-secret.ts";

const publicHalf = z.object({ kty: z.literal("EC"), crv: z.string(), x: z.string(), y: z.string() });

/** The key with which the servers of one home sign their cards. */
export type OwnCardKey = {
  /** The public key as a JWK of a key set (RFC 7517). */
  readonly publicKey: z.output<typeof publicHalf> & { readonly kid: string };
  /** The signature of a card (A2A 1.0 section 8.4). */
  sign(card: AgentCard): AgentCardSignature;
};

/**
 * The key of a home, in a file that only its owner can read; created if missing. Whoever signs with
 * it is a server of that home, whatever its name and address.
 */
export async function openCardKey(home: string): Promise<OwnCardKey> {
  const pem = await ownSecret(join(home, "card-key"), () =>
    Buffer.from(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" })),
  );
  const key = createPrivateKey(pem);
  const { kty, crv, x, y } = publicHalf.parse(createPublicKey(key).export({ format: "jwk" }));
  // The key's thumbprint (RFC 7638), so that two keys never share an id.
  const kid = createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest("base64url");
  return {
    publicKey: { kty, crv, x, y, kid },
    sign(card) {
      const head = base64url(JSON.stringify({ alg: "ES256", kid, typ: "JOSE" }));
      const signed = Buffer.from(`${head}.${base64url(canonicalizeAgentCard(card))}`);
      const signature = sign("sha256", signed, { key, dsaEncoding: "ieee-p1363" });
      return { protected: head, signature: signature.toString("base64url"), header: undefined };
    },
  };
}

function base64url(text: string): string {
  return Buffer.from(text).toString("base64url");
}
