import type { Judgement, Situation } from "./acts.ts";
import { hostOf, isForeign, judgeEnter, quoted, unnamed } from "./judge-action.ts";
import { placeOfRef } from "./place-of.ts";

/**
 * `browser_type_secret`. That a secret may be typed on its sites was decided in the settings; a
 * person decides where they say so, and where nobody named the host for this task.
 */
export async function judgeSecret(
  { ref, secret, submit }: { readonly ref: string; readonly secret: string; readonly submit: boolean },
  { browsing, scope }: Situation,
  asks: boolean,
): Promise<Judgement> {
  const place = browsing && (await placeOfRef(browsing.browsing, browsing.looks, ref));
  if (place === undefined) return {};
  const foreign = isForeign(place.url, scope);
  const typed = `Type the secret ${quoted(secret)} on ${hostOf(place.url)}${foreign ? unnamed : ""}`;
  const risk = asks || foreign ? typed : submit ? judgeEnter(place, scope) : undefined;
  return { risk, secretsAt: place.url === undefined ? [] : [place.url] };
}
