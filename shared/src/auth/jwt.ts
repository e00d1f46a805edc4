import { statSync } from "node:fs";
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from "jose";
import { type Caller, callerNamed, principalName, type Scope, scopes } from "../core/caller.ts";
import { AppError } from "../core/errors.ts";
import { assignable } from "./auth-store.ts";
import { refusal } from "./identify.ts";
import { issuerFetch } from "./issuer-fetch.ts";
import { createVerifiedTokens } from "./verified-tokens.ts";

/** Whose JWTs are accepted, and what their claims mean. */
export type JwtConfig = {
  /** A URL, or the path of a file. */
  readonly keys: { readonly url: string } | { readonly file: string };
  readonly issuer: string;
  readonly audience: string;
  readonly principalClaim: string;
  readonly scopesClaim: string;
  /** What stands before our scopes in the claim. */
  readonly scopePrefix: string;
};

/** A secret that is shared with the verifier could be used to make tokens. */
const algorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

const toleranceSeconds = 30;
const fetchMs = 5_000;
const cacheMs = 600_000;
/** How often an unknown key id may make us ask for the keys again. */
const cooldownMs = 5_000;

/** An issuer's keys, and what changes when it is known that they have. */
type Keys = { readonly get: JWTVerifyGetKey; version(): number | undefined };

/**
 * Verifies JWTs of an issuer; one that is verified is known again for a minute. Rejects with
 * `unauthorized`, or with `unavailable` if the issuer's keys can't be had.
 */
export function jwtVerifier(config: JwtConfig, now: () => number = Date.now): (token: string) => Promise<Caller> {
  const { issuer, audience } = config;
  const keys = "url" in config.keys ? remoteKeys(config.keys.url) : fileKeys(config.keys.file);
  const options = { issuer, audience, algorithms, clockTolerance: toleranceSeconds, requiredClaims: ["exp"] };
  const verified = createVerifiedTokens(now);
  return async (token) => {
    const version = keys.version();
    const known = verified.find(token, version);
    if (known !== undefined) return known;
    try {
      const { payload } = await jwtVerify(token, keys.get, { ...options, currentDate: new Date(now()) });
      const caller = callerOfClaims(payload, config);
      verified.keep(token, { caller, version, expires: ((payload.exp ?? 0) + toleranceSeconds) * 1_000 });
      return caller;
    } catch (error) {
      if (error instanceof errors.JOSEError) throw refusal(`JWT: ${error.message}`);
      throw error;
    }
  };
}

/** Which principal and scopes claims give. Throws `unauthorized` for an unusable principal. */
export function callerOfClaims(
  payload: JWTPayload,
  { principalClaim, scopesClaim, scopePrefix }: Pick<JwtConfig, "principalClaim" | "scopesClaim" | "scopePrefix">,
): Caller {
  return callerNamed(principalOfClaims(payload, principalClaim), scopesOfClaim(payload[scopesClaim], scopePrefix));
}

/** The principal that a claim names. Throws `unauthorized`. */
export function principalOfClaims(payload: JWTPayload, claim: string): string {
  const name = payload[claim];
  if (typeof name !== "string") throw refusal(`JWT: no text in the claim ${claim}`);
  // Whoever may enter an address that nobody has checked may enter another person's.
  if (claim === "email" && payload.email_verified === false) throw refusal("JWT: the email address is not verified");
  try {
    return assignable(principalName(name));
  } catch (error) {
    throw error instanceof AppError ? refusal(`JWT: ${claim}: ${error.message}`) : error;
  }
}

/** Text with spaces between (OAuth), or a list. */
function scopesOfClaim(claim: unknown, prefix: string): Scope[] {
  const named: readonly unknown[] = typeof claim === "string" ? claim.split(" ") : Array.isArray(claim) ? claim : [];
  return scopes.filter((scope) => named.includes(prefix + scope));
}

function remoteKeys(url: string): Keys {
  const bounds = { timeoutDuration: fetchMs, cooldownDuration: cooldownMs, cacheMaxAge: cacheMs };
  const options = { ...bounds, [customFetch]: issuerFetch };
  return { get: reachably(createRemoteJWKSet(new URL(url), options), url), version: () => 0 };
}

/** The keys of a file, read again when it changes. */
function fileKeys(path: string): Keys {
  let known: { readonly modified: number; readonly keys: JWTVerifyGetKey } | undefined;
  const keys: JWTVerifyGetKey = async (header, token) => {
    const file = Bun.file(path);
    const modified = (await file.stat()).mtimeMs;
    if (known?.modified !== modified) known = { modified, keys: createLocalJWKSet(await file.json()) };
    return known.keys(header, token);
  };
  return { get: reachably(keys, path), version: () => statSync(path, { throwIfNoEntry: false })?.mtimeMs };
}

/** Turns a failure to read the keys into `unavailable`: the caller's token may well be right. */
function reachably(keys: JWTVerifyGetKey, from: string): JWTVerifyGetKey {
  return async (header, token) => {
    try {
      return await keys(header, token);
    } catch (cause) {
      const isTokens =
        cause instanceof errors.JWKSNoMatchingKey ||
        cause instanceof errors.JWKSMultipleMatchingKeys ||
        cause instanceof errors.JOSENotSupported;
      if (isTokens) throw cause;
      throw new AppError("unavailable", `The keys of the tokens' issuer cannot be read from ${from}.`, { cause });
    }
  };
}
