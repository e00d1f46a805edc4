import * as z from "zod";

/** A public key of a JWK set (RFC 7517). After `exp` (seconds since 1970) it verifies nothing. */
export type PublicKey = z.output<typeof publicKey>;

const publicKey = z.looseObject({ kid: z.string(), kty: z.string(), exp: z.number().exactOptional() });

/** A JWK set with an id for every key. */
export const keySet = z.looseObject({ keys: z.array(publicKey).min(1) });

/** Whether a key has not expired. */
export function isValidNow({ exp }: PublicKey, now: number): boolean {
  return exp === undefined || exp * 1000 > now;
}

/** The algorithms that signatures of others may have: none with a shared secret. */
export const signatureAlgorithms = ["ES256", "ES384", "ES512", "EdDSA", "Ed25519", "RS256", "PS256"];

/** Where a server publishes its keys, below its own address. */
export const keySetPath = "/.well-known/jwks.json";
