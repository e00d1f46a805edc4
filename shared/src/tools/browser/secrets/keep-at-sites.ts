import type { Browsing } from "../../../machine/browser/browser.ts";
import type { Secrets } from "../../../machine/secrets/secrets.ts";

const guarded = new WeakSet<Browsing>();
/** What is looked at of a request's body. */
const mostCharacters = 2_000_000;

/**
 * From now on, pages of this browsing send no request that holds a typed secret to anywhere but its
 * sites: the form may have changed since it was checked. Redirects and WebSockets are not covered.
 */
export async function keepAtItsSites(browsing: Browsing, secrets: Secrets): Promise<void> {
  if (guarded.has(browsing)) return;
  guarded.add(browsing);
  await browsing.route(/^https?:/, async (route) => {
    const request = route.request();
    const url = URL.parse(request.url());
    const sent = `${request.url()}\n${request.postData()?.slice(0, mostCharacters) ?? ""}`;
    const held = secrets.heldIn(sent, url?.origin ?? "null");
    if (held === undefined) return await route.fallback();
    browsing.tell(`A request to ${url?.host} was refused: it held the secret ${held}, which does not belong there.`);
    await route.abort("blockedbyclient");
  });
}
