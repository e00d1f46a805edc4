import { timingSafeEqual } from "node:crypto";
import { sha256Bytes } from "./sha256.ts";

/** Whether two secrets are the same. How long it takes tells nothing of where they differ. */
export function sameSecret(one: string, other: string): boolean {
  return timingSafeEqual(sha256Bytes(one), sha256Bytes(other));
}
