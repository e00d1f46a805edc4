import type { Caller } from "../core/caller.ts";
import { sha256Of } from "../core/text/sha256.ts";

/** Whom a verified token is from. */
type Verified = {
  readonly caller: Caller;
  /** The version of the keys that verified it; undefined if they have none now. */
  readonly version: number | undefined;
  /** When the token itself expires. Milliseconds since 1970. */
  readonly expires: number;
};

/** The callers of tokens that were verified a short time ago. */
export type VerifiedTokens = {
  /** Undefined unless it was verified in the last minute, with these keys, and is still valid. */
  find(token: string, version: number | undefined): Caller | undefined;
  keep(token: string, verified: Verified): void;
};

/** How long a token is known: the issuer's keys may be withdrawn. */
const knownMs = 60_000;

/** The most tokens that are known at once; the one verified first is forgotten first. */
const most = 1_000;

/**
 * To verify a signature takes longer than all else that is done for a short request, so a token
 * that comes with many is verified once a minute. Only hashes of tokens are kept.
 */
export function createVerifiedTokens(now: () => number): VerifiedTokens {
  const tokens = new Map<string, Verified & { readonly since: number }>();
  return {
    find(token, version) {
      const hash = sha256Of(token);
      const found = tokens.get(hash);
      if (found === undefined || version === undefined) return undefined;
      const isValid = found.version === version && now() < found.expires && performance.now() - found.since < knownMs;
      if (isValid) return found.caller;
      tokens.delete(hash);
      return undefined;
    },
    keep(token, verified) {
      tokens.set(sha256Of(token), { ...verified, since: performance.now() });
      const [oldest] = tokens.keys();
      if (tokens.size > most && oldest !== undefined) tokens.delete(oldest);
    },
  };
}
