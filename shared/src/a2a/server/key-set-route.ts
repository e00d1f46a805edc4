import type { AgentCard } from "@a2a-js/sdk";
import { Hono } from "hono";
import { type Lazy, lazily } from "../../core/async/lazy.ts";
import { signCard } from "../signing/card-signature.ts";
import type { HomeKeys, KeyRing } from "../signing/home-keys.ts";
import { keySetPath } from "../signing/public-key.ts";
import type { CardFacts } from "./card.ts";

/** Publishes the public keys with which this server signs, as a JWK set. */
export function keySetApp(keys: HomeKeys): Hono {
  const app = new Hono();
  app.get(keySetPath, async (c) => {
    const ring = await keys.ring();
    const headers = { "Cache-Control": "public, max-age=300" };
    return c.json({ keys: ring.map(({ publicKey }) => publicKey) }, 200, headers);
  });
  return app;
}

/**
 * The card, signed with the present keys if there are any. Signing again makes other bytes, so the
 * same keys keep the same signatures.
 */
export function signedCard(card: AgentCard, { keys, publicUrl }: CardFacts): () => Promise<AgentCard> {
  if (keys === undefined) return async () => card;
  const jku = `${publicUrl.replace(/\/+$/, "")}${keySetPath}`;
  let last: { readonly ring: KeyRing; readonly signed: Lazy<AgentCard> } | undefined;
  return async () => {
    const ring = await keys.ring();
    if (last?.ring !== ring) last = { ring, signed: lazily(() => signCard(card, ring, jku)) };
    return last.signed.get();
  };
}
