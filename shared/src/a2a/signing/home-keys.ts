import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { join } from "node:path";
import * as z from "zod";
import { AppError } from "../../core/errors.ts";
import { jsonOf } from "../../core/json.ts";
import { damagedText, type KeptText, madeOnce } from "../../core/text/kept-text.ts";
import { keptFile } from "../../machine/workspace/own-files/kept-file.ts";
import type { KeyAlgorithm } from "./key-algorithms.ts";
import { isValidNow, type PublicKey } from "./public-key.ts";

/** A key to sign with, and its public half. */
export type SigningKey = { readonly alg: KeyAlgorithm; readonly key: KeyObject; readonly publicKey: PublicKey };

/**
 * The keys of a home: the current one first, then those that were replaced lately, whose public
 * halves have an `exp`.
 */
export type KeyRing = readonly [SigningKey, ...SigningKey[]];

/**
 * The keys with which the servers of one home, or of several that share them, sign cards and
 * notifications.
 */
export interface HomeKeys {
  /**
   * The same ring until a key is replaced, which is noticed within a second; also while where they
   * are kept does not answer.
   */
  ring(): Promise<KeyRing>;
}

/** Where the keys are kept: the current one as PEM, and the replaced ones. Secret. */
export type KeyTexts = { readonly current: KeptText; readonly former: KeptText };

/** Replaced keys that are still used and published; the oldest make room. */
const maxFormer = 3;
/** How long a replaced key is still used and published. Milliseconds. */
const keptMs = 7 * 24 * 3_600_000;
const rereadMs = 1_000;

const formerText = z.strictObject({ keys: z.array(z.strictObject({ pem: z.string(), until: z.number() })) });
const publicHalf = z.discriminatedUnion("kty", [
  z.object({ kty: z.literal("EC"), crv: z.literal("P-256"), x: z.string(), y: z.string() }),
  z.object({ kty: z.literal("OKP"), crv: z.literal("Ed25519"), x: z.string() }),
]);

/** The keys of a home, in files that only its owner can read. */
export function keyFiles(home: string): KeyTexts {
  return { current: keptFile(join(home, "card-key")), former: keptFile(join(home, "former-card-keys.json")) };
}

/**
 * Opens the keys that are kept there; makes the first one, for ES256. Whoever signs with them is a
 * server of that home, whatever its name and address. Rejects if they cannot be read.
 */
export async function openHomeKeys(texts: KeyTexts, now: () => number = Date.now): Promise<HomeKeys> {
  let ring = await readRing(texts, now());
  let version = await versionOf(texts);
  let checked = performance.now();
  return {
    async ring() {
      if (performance.now() - checked < rereadMs) return ring;
      checked = performance.now();
      try {
        const found = await versionOf(texts);
        const isCurrent = found === version && ring.every(({ publicKey }) => isValidNow(publicKey, now()));
        if (!isCurrent) [ring, version] = [await readRing(texts, now()), found];
      } catch (error) {
        if (!(error instanceof AppError && error.code === "storage_unavailable")) throw error;
      }
      return ring;
    },
  };
}

/**
 * Replaces the current key, by one for the same algorithm unless told otherwise. The replaced key
 * stays in use beside it for a week, so that whoever trusts it has time to trust the new one; with
 * `dropFormer`, for a key that became known, all earlier keys end at once.
 */
export function rotateHomeKey(
  texts: KeyTexts,
  options: { readonly algorithm?: KeyAlgorithm; readonly dropFormer?: boolean; readonly now?: number } = {},
): Promise<KeyRing> {
  const { dropFormer = false, now = Date.now() } = options;
  return texts.current.alone("rotate", async () => {
    const [current] = await readRing(texts, now);
    const pem = await currentPem(texts);
    // In this order a crash between the two leaves the current key as it was.
    await texts.former.change((text) => {
      const former = [{ pem, until: now + keptMs }, ...formerKeys(text, now)];
      return JSON.stringify({ keys: dropFormer ? [] : former.slice(0, maxFormer) });
    });
    await texts.current.change(() => newPem(options.algorithm ?? current.alg));
    return readRing(texts, now);
  });
}

function currentPem({ current }: KeyTexts): Promise<string> {
  return madeOnce(current, () => newPem("ES256"));
}

function newPem(algorithm: KeyAlgorithm): string {
  const { privateKey } =
    algorithm === "ES256" ? generateKeyPairSync("ec", { namedCurve: "P-256" }) : generateKeyPairSync("ed25519");
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

async function readRing(texts: KeyTexts, now: number): Promise<KeyRing> {
  const current = signingKey(await currentPem(texts));
  const former = formerKeys(await texts.former.read(), now).map((one) => signingKey(one.pem, one.until));
  return [current, ...former.filter(({ publicKey }) => publicKey.kid !== current.publicKey.kid)];
}

function formerKeys(text: string | undefined, now: number) {
  if (text === undefined) return [];
  const { success, data } = formerText.safeParse(jsonOf(text));
  if (!success) throw damagedText("former-card-keys.json", "what former keys signed is no longer accepted then");
  return data.keys.filter(({ until }) => until > now);
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

async function versionOf({ current, former }: KeyTexts): Promise<string> {
  return (await Promise.all([current.version(), former.version()])).join(" / ");
}
