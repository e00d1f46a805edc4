import type { InsideAddress } from "../../a2a/client/server-address.ts";
import { type CardPolicy, type CardTrust, cardPolicy, readKeyFile } from "../../a2a/signing/card-policy.ts";
import type { HomeKeys } from "../../a2a/signing/home-keys.ts";
import { createKeySets, type KeySets } from "../../a2a/signing/key-sets.ts";
import type { CardConfig } from "../../config/access/card-config.ts";
import type { Config } from "../../config/config.ts";
import { openOwnTls } from "./open-own-tls.ts";

/**
 * Which agents may be used by their cards, as the settings say. Agents of this home may be, whoever
 * else has to sign. Rejects with `config_invalid` for a key file that cannot be read.
 */
export async function openCardPolicy(
  { a2a, agents, peers }: Pick<Config, "a2a" | "agents" | "peers">,
  own: HomeKeys,
  keySets: KeySets,
): Promise<CardPolicy> {
  const tables: [string, { readonly card: CardConfig }][] = [...Object.entries(agents), ...Object.entries(peers)];
  const trusts = await Promise.all(tables.map(async ([name, { card }]) => [name, await trustOf(card)] as const));
  const byName = new Map(trusts);
  const others = await trustOf(a2a.card);
  return cardPolicy({ trust: (name) => byName.get(name) ?? others, own, keySets });
}

/** The keys that other servers publish, read as the settings allow. */
export function openKeySets(config: Config, inside: InsideAddress): KeySets {
  const { a2a, egress } = config;
  return createKeySets({ origins: a2a.keyOrigins, egress, inside, tls: openOwnTls(config) });
}

async function trustOf({ demand, keys }: CardConfig): Promise<CardTrust> {
  return { demand, ...(keys !== undefined && { keys: await readKeyFile(keys) }) };
}
