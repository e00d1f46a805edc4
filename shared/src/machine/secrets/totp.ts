import { createHmac } from "node:crypto";
import { AppError } from "../../core/errors.ts";

/** A one-time code, and how many seconds from now it counts. */
export type OneTimeCode = { readonly code: string; readonly seconds: number };

type Seed = {
  readonly key: Uint8Array;
  readonly algorithm: "sha1" | "sha256" | "sha512";
  readonly digits: number;
  readonly period: number;
};

/**
 * The code of a seed at a time, as RFC 6238 says. The seed is base32, or an `otpauth://totp/…`
 * address as QR codes hold it. Throws `config_invalid` for any other text, which is not quoted.
 */
export function oneTimeCode(seed: string, atMs: number): OneTimeCode {
  const { key, algorithm, digits, period } = readSeed(seed.trim());
  const seconds = Math.floor(atMs / 1000);
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(seconds / period)));
  const hash = createHmac(algorithm, key).update(counter).digest();
  const at = (hash.at(-1) ?? 0) & 0xf;
  const number = hash.readUInt32BE(at) & 0x7fffffff;
  return { code: String(number % 10 ** digits).padStart(digits, "0"), seconds: period - (seconds % period) };
}

function readSeed(text: string): Seed {
  const url = /^otpauth:/i.test(text) ? URL.parse(text) : undefined;
  if (url === null) throw invalid("is not an address");
  const given = (name: string, otherwise: number) => Number(url?.searchParams.get(name) ?? otherwise);
  const algorithm = url?.searchParams.get("algorithm")?.toLowerCase().replace("-", "") ?? "sha1";
  const digits = given("digits", 6);
  const period = given("period", 30);
  if (url !== undefined && url.host !== "totp") throw invalid("is not of the kind totp");
  if (algorithm !== "sha1" && algorithm !== "sha256" && algorithm !== "sha512")
    throw invalid("names another algorithm");
  if (![6, 7, 8].includes(digits)) throw invalid("has other digits than 6 to 8");
  if (!Number.isInteger(period) || period < 1 || period > 3_600) throw invalid("has no usable period");
  return { key: fromBase32(url?.searchParams.get("secret") ?? text), algorithm, digits, period };
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const shortestKey = 5;

function fromBase32(text: string): Uint8Array {
  const bytes: number[] = [];
  let held = 0;
  let bits = 0;
  for (const letter of text.toUpperCase().replace(/[\s-]|(?<!=)=+$/g, "")) {
    const value = letters.indexOf(letter);
    if (value === -1) throw invalid("is not base32");
    held = ((held << 5) | value) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((held >> bits) & 0xff);
  }
  if (bytes.length < shortestKey) throw invalid("is too short");
  return Uint8Array.from(bytes);
}

function invalid(why: string): AppError {
  return new AppError("config_invalid", `The seed for one-time codes ${why}.`);
}
