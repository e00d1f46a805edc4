import { AppError } from "../../core/errors.ts";
import { isLoopback } from "../../http/loopback-guard.ts";
import type { OwnTls } from "../../machine/egress/connect.ts";
import { createEgress } from "../../machine/egress/egress.ts";
import type { EgressPolicy } from "../../machine/egress/policy.ts";
import { isSameServer } from "../client/server-address.ts";
import { keySet, type PublicKey } from "./public-key.ts";

/** Public keys that servers publish, fetched when needed and remembered for a while. */
export interface KeySets {
  /**
   * The key with this id in the set at `url`, of the server at `owner`. Rejects with `forbidden` if
   * the set is on neither that server nor a trusted one, and with another AppError if it cannot be
   * read; `not_found` if it is not there, `unauthorized` if it has no such key.
   */
  find(url: string, kid: string, owner: string): Promise<PublicKey>;
}

/** How key sets are fetched. */
export type KeySetsOptions = {
  /** Origins whose key sets are trusted for any server. */
  readonly origins?: readonly string[];
  readonly egress: EgressPolicy & { readonly proxy?: string | undefined };
  /** Maps a public address of this system to the one reachable from here. */
  readonly inside?: (url: string) => string;
  /** For servers of this system. */
  readonly tls?: OwnTls | undefined;
  /** How old a set may be, and how soon it is read again for a key that it does not have. */
  readonly ageMs?: number;
  readonly againMs?: number;
};

type Known = { readonly at: number; readonly keys: Promise<readonly PublicKey[]> };

const timeoutMs = 5_000;
const maxBytes = 100_000;
const maxSets = 200;

/**
 * Key sets over https, or http on loopback. A set is read from its own address alone, without
 * redirects, and many askers at once cause one request.
 */
export function createKeySets(options: KeySetsOptions): KeySets {
  const { origins = [], inside = (url: string) => url, ageMs = 600_000, againMs = 30_000 } = options;
  const known = new Map<string, Known>();
  const read = (url: URL): Known => {
    const found = { at: performance.now(), keys: fetchKeys(url, options) };
    known.delete(url.href);
    known.set(url.href, found);
    const oldest = known.keys().next().value;
    if (known.size > maxSets && oldest !== undefined) known.delete(oldest);
    return found;
  };
  return {
    async find(named, kid, owner) {
      const url = admitted(inside(named), inside(owner), origins);
      const before = known.get(url.href);
      const found = before !== undefined && performance.now() - before.at < ageMs ? before : read(url);
      const pick = async ({ keys }: Known) => (await keys).find((key) => key.kid === kid);
      const stale = performance.now() - found.at >= againMs;
      const key = await pick(found).catch((error) => (stale ? undefined : Promise.reject(error)));
      const again = key ?? (stale ? await pick(read(url)) : undefined);
      if (again === undefined) throw new AppError("unauthorized", `${url.href} has no key ${JSON.stringify(kid)}.`);
      return again;
    },
  };
}

function admitted(named: string, owner: string, origins: readonly string[]): URL {
  const url = URL.parse(named);
  const shown = JSON.stringify(named.slice(0, 200));
  if (url === null || (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname))))
    throw new AppError("forbidden", `Keys are not read from ${shown}: it is not an https URL.`);
  if (!isSameServer(url, owner) && !origins.some((origin) => isSameServer(url, origin)))
    throw new AppError(
      "forbidden",
      `Keys are not read from ${shown}: it is another server. If you trust it, list its origin in [a2a] key_origins.`,
    );
  return url;
}

async function fetchKeys(
  url: URL,
  { egress: { proxy, ...policy }, tls }: Pick<KeySetsOptions, "egress" | "tls">,
): Promise<readonly PublicKey[]> {
  // The server itself is one that is called anyway, or one that the settings name.
  const egress = createEgress({ ...policy, allow: [...policy.allow, url.host] }, { proxy, tls });
  const signal = new AbortController().signal;
  const answer = await egress.fetch({ url, signal, timeoutMs, maxBytes, maxRedirects: 0 });
  if (answer.status === 404) throw new AppError("not_found", `There are no keys at ${url.href}.`);
  if (answer.status !== 200)
    throw new AppError("unavailable", `${url.href} answered with HTTP status ${answer.status}.`);
  try {
    return keySet.parse(JSON.parse(new TextDecoder().decode(answer.body))).keys;
  } catch (error) {
    throw new AppError("unavailable", `${url.href} is not a JWK set with a kid for every key.`, { cause: error });
  }
}
