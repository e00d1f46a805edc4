import type { AgentCard, AgentCardSignature } from "@a2a-js/sdk";
import { AppError, messageOf } from "../../core/errors.ts";
import type { CardDemand } from "./card-demand.ts";
import { keyOfSignature, problemOfSignature } from "./card-signature.ts";
import type { HomeKeys } from "./home-keys.ts";
import type { KeySets } from "./key-sets.ts";
import { keySet, type PublicKey } from "./public-key.ts";

/** What is demanded of a card, and the keys that may sign it. */
export type CardTrust = {
  readonly demand: CardDemand;
  /** If given, no other keys count, and the card's own link to its keys is not followed. */
  readonly keys?: readonly PublicKey[];
};

/** The agent that a card is said to be of: its name here, and the address of its card. */
export type CardOwner = { readonly name: string; readonly url: string };

/** Throws `forbidden` with the reason if an agent with this card may not be used. */
export type CardPolicy = (card: AgentCard, agent: CardOwner) => Promise<void>;

/** What a policy decides by. */
export type CardPolicyDeps = {
  /** What is demanded of an agent, by its name here. */
  trust(name: string): CardTrust;
  /** The keys of this system's own agents, which are always trusted; none if omitted. */
  readonly own?: HomeKeys;
  /** Reads the keys that a card links to; if omitted, links are not followed. */
  readonly keySets?: KeySets;
  readonly now?: () => number;
};

/**
 * Accepts a card if one of its signatures holds (A2A 1.0 section 8.4.3), or if it may be unsigned.
 */
export function cardPolicy({ trust, own, keySets, now = Date.now }: CardPolicyDeps): CardPolicy {
  const problemOf = async (signature: AgentCardSignature, card: AgentCard, { name, url }: CardOwner) => {
    try {
      const { kid, jku } = keyOfSignature(signature);
      if (kid === undefined) return "a signature without the id of its key";
      const { keys } = trust(name);
      const trusted = [...(keys ?? []), ...((await own?.ring())?.map(({ publicKey }) => publicKey) ?? [])];
      const pinned = trusted.find((one) => one.kid === kid);
      const key = pinned ?? (keys || jku === undefined ? undefined : await keySets?.find(jku, kid, url));
      if (key === undefined) return `a signature by ${JSON.stringify(kid)}, which is not trusted here`;
      return await problemOfSignature(signature, card, key, now());
    } catch (error) {
      return `an invalid signature (${messageOf(error)})`;
    }
  };
  return async (card, agent) => {
    const { demand } = trust(agent.name);
    if (demand === "unsigned" || (demand === "signed-if-present" && card.signatures.length === 0)) return;
    const reasons: string[] = [];
    for (const signature of card.signatures.slice(0, maxSignatures)) {
      const reason = await problemOf(signature, card, agent);
      if (reason === undefined) return;
      reasons.push(reason);
    }
    const found = [...new Set(reasons)].join("; ") || "no signature";
    throw new AppError(
      "forbidden",
      `Only signed cards are accepted, and its card has ${found}. Ask its operator; if the card is right, trust its key (card_keys) or change card_policy in [agents.NAME], [peers.NAME] or [a2a].`,
    );
  };
}

/** Signatures of one card that are looked at. */
const maxSignatures = 16;

/** The keys of a JWK set file. Rejects with `config_invalid`. */
export async function readKeyFile(path: string): Promise<readonly PublicKey[]> {
  const file = Bun.file(path);
  if (!(await file.exists())) throw new AppError("config_invalid", `There is no file ${path} with card keys.`);
  try {
    return keySet.parse(await file.json()).keys;
  } catch (error) {
    throw new AppError("config_invalid", `${path} is not a JWK set with a kid for every key.`, { cause: error });
  }
}
