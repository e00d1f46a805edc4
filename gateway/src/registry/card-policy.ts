import { type AgentCard, type AgentCardSignature, canonicalizeAgentCard } from "@a2a-js/sdk";
import { decodeProtectedHeader, flattenedVerify } from "jose";
import { AppError } from "manyhands/internal/core/errors";
import * as z from "zod";

/** Throws `forbidden` with the reason when an agent with this card may not be used. */
export type CardPolicy = (card: AgentCard) => Promise<void>;

/** Public keys that cards may be signed with, by key id (RFC 7517). */
export type CardKey = z.output<typeof cardKey>;

const cardKey = z.looseObject({ kid: z.string(), kty: z.string(), exp: z.number().exactOptional() });
const keySet = z.looseObject({ keys: z.array(cardKey).min(1) });

/** Accepts every card. */
export const anyCard: CardPolicy = async () => undefined;

/**
 * Accepts only cards signed by one of these keys (A2A 1.0 section 8.4.3). A card's own link to a
 * key is never followed. A key whose `exp` (seconds since 1970) has passed verifies nothing.
 */
export function signedCards(keys: readonly CardKey[], now: () => number = Date.now): CardPolicy {
  return async (card) => {
    const reasons: string[] = [];
    for (const signature of card.signatures) {
      const reason = await problemOf(signature, canonicalizeAgentCard(card), keys, now());
      if (reason === undefined) return;
      reasons.push(reason);
    }
    throw new AppError(
      "forbidden",
      `Only signed cards are accepted, and its card has ${reasons.join("; ") || "no signature"}.`,
    );
  };
}

/** Why a signature is not valid for a text; undefined if it is. */
async function problemOf(
  { protected: head, signature }: AgentCardSignature,
  text: string,
  keys: readonly CardKey[],
  now: number,
): Promise<string | undefined> {
  const payload = Buffer.from(text).toString("base64url");
  const jws = { protected: head, signature, payload };
  try {
    const { kid } = decodeProtectedHeader(jws);
    const key = keys.find((one) => one.kid === kid);
    if (key === undefined) return `a signature by ${JSON.stringify(kid)}, which is not trusted here`;
    if (key.exp !== undefined && key.exp * 1000 <= now)
      return `a signature by ${JSON.stringify(kid)}, which has expired`;
    await flattenedVerify(jws, key);
    return undefined;
  } catch (error) {
    return `an invalid signature (${error instanceof Error ? error.message : error})`;
  }
}

/** The keys of a JWK set file. Rejects with `config_invalid`. */
export async function readCardKeys(path: string): Promise<readonly CardKey[]> {
  const file = Bun.file(path);
  if (!(await file.exists())) throw new AppError("config_invalid", `There is no file ${path} with card keys.`);
  try {
    return keySet.parse(await file.json()).keys;
  } catch (error) {
    throw new AppError("config_invalid", `${path} is not a JWK set with a kid for every key.`, { cause: error });
  }
}
