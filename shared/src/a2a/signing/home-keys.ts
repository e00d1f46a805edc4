import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { unlessMissing } from "../../core/errors.ts";
import { ownSecret } from "../../machine/own-secret.ts";
import { readJson, writeJson } from "../../machine/workspace/json-file.ts";
import { replaceFile } from "../../machine/workspace/replace-file.ts";
import { isValidNow, type PublicKey } from "./public-key.ts";

/** The algorithms of a home's keys. */
export const keyAlgorithms = ["ES256", "EdDSA"] as const;

/** One of them. */
export type KeyAlgorithm = (typeof keyAlgorithms)[number];

/** A key to sign with, and its public half. */
export type SigningKey = { readonly alg: KeyAlgorithm; readonly key: KeyObject; readonly publicKey: PublicKey };

/**
 * The keys of a home: the current one first, then those that were replaced lately, whose public
 * halves have an `exp`.
 */
export type KeyRing = readonly [SigningKey, ...SigningKey[]];

/** The keys with which the servers of one home sign cards and notifications. */
export interface HomeKeys {
  /** The same ring until a key is replaced, which is noticed within a second. */
  ring(): Promise<KeyRing>;
}

/** Replaced keys that are still used and published; the oldest make room. */
const mostFormer = 3;
/** How long a replaced key is still used and published. Milliseconds. */
const keptMs = 7 * 24 * 3_600_000;
const rereadMs = 1_000;

const formerFile = z.strictObject({ keys: z.array(z.strictObject({ pem: z.string(), until: z.number() })) });
const publicHalf = z.discriminatedUnion("kty", [
  z.object({ kty: z.literal("EC"), crv: z.literal("P-256"), x: z.string(), y: z.string() }),
  z.object({ kty: z.literal("OKP"), crv: z.literal("Ed25519"), x: z.string() }),
]);

/**
 * Opens the keys of a home, in files that only its owner can read; creates the first one, for
 * ES256. Whoever signs with them is a server of that home, whatever its name and address.
 */
export async function openHomeKeys(home: string, now: () => number = Date.now): Promise<HomeKeys> {
  await ownSecret(currentPath(home), () => Buffer.from(newPem("ES256")));
  let ring = await readRing(home, now());
  let version = await versionOf(home);
  let checked = performance.now();
  return {
    async ring() {
      if (performance.now() - checked < rereadMs) return ring;
      checked = performance.now();
      const found = await versionOf(home);
      const isCurrent = found === version && ring.every(({ publicKey }) => isValidNow(publicKey, now()));
      if (!isCurrent) [ring, version] = [await readRing(home, now()), found];
      return ring;
    },
  };
}

/**
 * Replaces the current key of a home, by one for the same algorithm unless told otherwise. The
 * replaced key stays in use beside it for a week, so that whoever trusts it has time to trust the
 * new one; with `dropFormer`, for a key that became known, all earlier keys end at once.
 */
export async function rotateHomeKey(
  home: string,
  options: { readonly algorithm?: KeyAlgorithm; readonly dropFormer?: boolean; readonly now?: number } = {},
): Promise<KeyRing> {
  const { dropFormer = false, now = Date.now() } = options;
  const pem = await ownSecret(currentPath(home), () => Buffer.from(newPem("ES256")));
  const [current] = await readRing(home, now);
  const former = [{ pem: pem.toString(), until: now + keptMs }, ...(await readFormer(home, now))];
  // In this order a crash between the two leaves the current key as it was.
  await writeJson(formerPath(home), { keys: dropFormer ? [] : former.slice(0, mostFormer) });
  await replaceFile(currentPath(home), newPem(options.algorithm ?? current.alg));
  return readRing(home, now);
}

function currentPath(home: string): string {
  return join(home, "card-key");
}

function formerPath(home: string): string {
  return join(home, "former-card-keys.json");
}

function newPem(algorithm: KeyAlgorithm): string {
  const { privateKey } =
    algorithm === "ES256" ? generateKeyPairSync("ec", { namedCurve: "P-256" }) : generateKeyPairSync("ed25519");
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

async function readRing(home: string, now: number): Promise<KeyRing> {
  const pem = await ownSecret(currentPath(home), () => Buffer.from(newPem("ES256")));
  const current = signingKey(pem.toString());
  const former = (await readFormer(home, now)).map((one) => signingKey(one.pem, one.until));
  return [current, ...former.filter(({ publicKey }) => publicKey.kid !== current.publicKey.kid)];
}

async function readFormer(home: string, now: number) {
  const kept = (await readJson(formerPath(home), formerFile))?.keys ?? [];
  return kept.filter(({ until }) => until > now);
}

function signingKey(pem: string, until?: number): SigningKey {
  const key = createPrivateKey(pem);
  const half = publicHalf.parse(createPublicKey(key).export({ format: "jwk" }));
  const alg = half.kty === "EC" ? "ES256" : "EdDSA";
  const exp = until === undefined ? {} : { exp: Math.floor(until / 1000) };
  return { alg, key, publicKey: { ...half, kid: thumbprint(half), alg, use: "sig", ...exp } };
}

/** The key's thumbprint (RFC 7638), so that two keys never share an id. */
function thumbprint(half: z.output<typeof publicHalf>): string {
  const { kty, crv, x } = half;
  const members = half.kty === "EC" ? { crv, kty, x, y: half.y } : { crv, kty, x };
  return createHash("sha256").update(JSON.stringify(members)).digest("base64url");
}

async function versionOf(home: string): Promise<string> {
  const files = [currentPath(home), formerPath(home)].map((path) => stat(path).catch(unlessMissing));
  return (await Promise.all(files)).map((file) => (file === undefined ? "" : `${file.ino}:${file.mtimeMs}`)).join(" ");
}
