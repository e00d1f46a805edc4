import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { KeptText } from "./kept-text.ts";

const ivBytes = 12;
const tagBytes = 16;

/** How a sealed text is stored. */
export type SealedTextOptions = {
  /** 32 bytes each. The first seals; all of them open, the first that fits. */
  readonly keys: () => Promise<SealingKeys> | SealingKeys;
  /** `latin1` has one character for each byte; not every store keeps those. */
  readonly encoding: "latin1" | "base64";
  /** What the text is opened as; sealed for one purpose, it is not taken for another. */
  readonly purpose?: string;
  /** What it rejects with if no key opens it. */
  readonly unopened?: (cause: unknown) => Error;
};

/** The key that seals, then others that open. */
export type SealingKeys = readonly [Uint8Array, ...Uint8Array[]];

/** A text that is stored sealed with AES-256-GCM. Reading it with other keys rejects. */
export function sealedText(kept: KeptText, { keys, encoding, ...options }: SealedTextOptions): KeptText {
  const unsealed = (stored: string | undefined, all: SealingKeys) =>
    stored === undefined ? undefined : unseal(Buffer.from(stored, encoding), all, options);
  return {
    version: kept.version,
    alone: kept.alone,
    read: async () => unsealed(await kept.read(), await keys()),
    async change(next) {
      const all = await keys();
      await kept.change((stored) => seal(next(unsealed(stored, all)), all[0], options.purpose).toString(encoding));
    },
  };
}

function seal(text: string, key: Uint8Array, purpose: string | undefined): Buffer {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv("aes-256-gcm", key, iv);
  if (purpose !== undefined) cipher.setAAD(Buffer.from(purpose));
  return Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
}

type Opening = Pick<SealedTextOptions, "purpose" | "unopened">;

function unseal(sealed: Buffer, [key, ...others]: SealingKeys, opening: Opening): string {
  const { purpose, unopened } = opening;
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, ivBytes));
    if (purpose !== undefined) decipher.setAAD(Buffer.from(purpose));
    decipher.setAuthTag(sealed.subarray(-tagBytes));
    return decipher.update(sealed.subarray(ivBytes, -tagBytes), undefined, "utf8") + decipher.final("utf8");
  } catch (error) {
    const [next, ...rest] = others;
    if (next === undefined) throw unopened?.(error) ?? error;
    return unseal(sealed, [next, ...rest], opening);
  }
}
