import type { AgentCard } from "@a2a-js/sdk";
import { type Lazy, lazily } from "../../core/async/lazy.ts";
import { withoutLastSlashes } from "../../core/text/without-last-slashes.ts";
import { signCard } from "./card-signature.ts";
import type { HomeKeys, KeyRing } from "./home-keys.ts";
import { keySetPath } from "./public-key.ts";

/**
 * The card, signed with the present keys if there are any. Signing again makes other bytes, so the
 * same keys keep the same signatures.
 */
export function signedCard(
  card: AgentCard,
  { keys, publicUrl }: { readonly keys?: HomeKeys; readonly publicUrl: string },
): () => Promise<AgentCard> {
  if (keys === undefined) return async () => card;
  const jku = `${withoutLastSlashes(publicUrl)}${keySetPath}`;
  let last: { readonly ring: KeyRing; readonly signed: Lazy<AgentCard> } | undefined;
  return async () => {
    const ring = await keys.ring();
    if (last?.ring !== ring) last = { ring, signed: lazily(() => signCard(card, ring, jku)) };
    return last.signed.get();
  };
}
