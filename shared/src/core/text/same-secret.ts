import { timingSafeEqual } from "node:crypto";

/** Whether two secrets are the same. How long it takes tells nothing of where they differ. */
export function sameSecret(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

function digest(text: string): Uint8Array {
  return new Bun.CryptoHasher("sha256").update(text).digest();
}
