import { decodeProtectedHeader } from "jose/decode/protected_header";
import { SignJWT } from "jose/jwt/sign";
import { jwtVerify } from "jose/jwt/verify";
import { AppError, messageOf } from "../../core/errors.ts";
import { sha256Of } from "../../core/text/sha256.ts";
import { withoutLastSlashes } from "../../core/text/without-last-slashes.ts";
import type { KeyRing } from "./home-keys.ts";
import type { KeySets } from "./key-sets.ts";
import { keySetPath, signatureAlgorithms } from "./public-key.ts";

/** The header of a notification's signature, which leaves `Authorization` to the receiver. */
export const signatureHeader = "X-A2A-Notification-Signature";

/** How long a signature is good for. */
const goodFor = "5m";

/**
 * A JWT that vouches for one notification: who sends it (`iss`), to which address (`aud`), when,
 * and for which body (`request_body_sha256`).
 */
export function signNotification(
  body: string,
  [{ key, alg, publicKey }]: KeyRing,
  { issuer, audience }: { readonly issuer: string; readonly audience: string },
): Promise<string> {
  const jku = `${withoutLastSlashes(issuer)}${keySetPath}`;
  return new SignJWT({ request_body_sha256: sha256Of(body) })
    .setProtectedHeader({ alg, kid: publicKey.kid, typ: "JWT", jku })
    .setIssuer(issuer)
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime(goodFor)
    .setJti(crypto.randomUUID())
    .sign(key);
}

/**
 * The JWT of a notification: under its own header, or as a bearer token, as other senders do;
 * undefined if there is none.
 */
export function signatureOf(headers: Headers): string | undefined {
  const bearer = /^bearer\s+(\S+)$/i.exec(headers.get("Authorization") ?? "")?.[1];
  const jwt = headers.get(signatureHeader) ?? bearer;
  return jwt?.split(".").length === 3 ? jwt : undefined;
}

/**
 * Checks a notification's JWT by the keys of its sender, the agent at `sender`. A sender that
 * publishes no keys is not asked to prove anything. Rejects with `unauthorized`, or with
 * `unavailable` if its keys cannot be read now.
 */
export async function checkNotification(jwt: string, body: string, sender: string, keySets: KeySets): Promise<void> {
  try {
    const { kid = "", jku } = decodeProtectedHeader(jwt);
    const url = typeof jku === "string" ? jku : `${withoutLastSlashes(sender)}${keySetPath}`;
    const key = await keySets.find(url, kid, sender);
    const { payload } = await jwtVerify(jwt, key, {
      algorithms: signatureAlgorithms,
      maxTokenAge: goodFor,
      clockTolerance: 30,
    });
    const { request_body_sha256: claimed = sha256Of(body) } = payload;
    if (claimed !== sha256Of(body)) throw new Error("it is of another body");
  } catch (error) {
    if (error instanceof AppError && error.code === "not_found") return;
    if (error instanceof AppError && error.retryable) throw error;
    const reason = messageOf(error);
    throw new AppError("unauthorized", `The notification's signature does not hold: ${reason}`, { cause: error });
  }
}
