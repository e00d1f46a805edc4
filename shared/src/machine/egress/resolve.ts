import { lookup } from "node:dns/promises";
import { AppError } from "../../core/errors.ts";
import { admitAddresses, type EgressPolicy } from "./policy.ts";

/** Returns the addresses of a host name; rejects when it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Asks the system's resolver for the addresses of a name. */
export async function resolveBySystem(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/**
 * The addresses of the URL's host, checked. Rejects with `forbidden`, or with `unavailable` when
 * there are none.
 */
export async function resolveChecked(
  url: URL,
  { policy, resolve }: { readonly policy: EgressPolicy; readonly resolve: Resolve },
): Promise<readonly string[]> {
  const addresses = await resolve(url.hostname).catch((cause: unknown) => {
    throw new AppError("unavailable", `The host name ${url.hostname} cannot be resolved.`, { cause });
  });
  if (addresses.length === 0) throw new AppError("unavailable", `The host name ${url.hostname} has no address.`);
  admitAddresses(url, addresses, policy);
  return addresses;
}
