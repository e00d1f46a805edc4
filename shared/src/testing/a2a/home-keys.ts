import { generateKeyPairSync } from "node:crypto";
import type { HomeKeys, KeyRing, SigningKey } from "../../a2a/signing/home-keys.ts";
import type { PublicKey } from "../../a2a/signing/public-key.ts";

function keyNamed(kid: string): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const half = { ...publicKey.export({ format: "jwk" }), kid, alg: "ES256", use: "sig" } as PublicKey;
  return { alg: "ES256", key: privateKey, publicKey: half };
}

/** Keys with these ids, which a call of `rotate` replaces. */
export function keysForTest(...kids: readonly string[]) {
  let ring = kids.map(keyNamed) as unknown as KeyRing;
  const keys: HomeKeys = { ring: async () => ring };
  return {
    keys,
    rotate: (...next: readonly string[]) => {
      ring = next.map(keyNamed) as unknown as KeyRing;
    },
  };
}
