import type { KeptTexts } from "../../core/text/kept-texts.ts";
import { isGone, ownIdentity } from "../../durable/sqlite/process-identity.ts";
import { createProfileStore, type ProfileStore } from "../../machine/browser-profile/profile-store.ts";

/** The browser profiles in these texts; what a killed process held is free at once. */
export function openProfiles(texts: KeptTexts): ProfileStore {
  const own = ownIdentity();
  return createProfileStore(texts, { own, isGone: (other) => isGone(other, own) });
}
