import type { Browsing } from "../../../machine/browser/browser.ts";
import type { Secrets } from "../../../machine/secrets/secrets.ts";

const guarded = new WeakSet<Browsing>();
/** What is looked at of a request's body. */
const maxCharacters = 2_000_000;

/**
 * From now on, pages of this browsing send nothing that holds a typed secret to anywhere but its
 * sites, by no request, redirect or WebSocket: the form may have changed since it was checked.
 * Called before a page is loaded, since one that was loaded before may hold a WebSocket already.
 */
export async function keepAtItsSites(browsing: Browsing, secrets: Secrets): Promise<void> {
  if (guarded.has(browsing)) return;
  guarded.add(browsing);
  const mayGo = (url: string, body: string): boolean => {
    const { origin = "null", host } = URL.parse(url) ?? {};
    const held = secrets.heldIn(`${url}\n${body.slice(0, maxCharacters)}`, origin);
    if (held !== undefined)
      browsing.tell(`A request to ${host} was refused: it held the secret ${held}, which does not belong there.`);
    return held === undefined;
  };
  await browsing.guard(({ url, body }) => mayGo(url, body));
  await browsing.route(/^https?:/, async (route) => {
    const request = route.request();
    const [url, body] = [request.url(), request.postData() ?? ""];
    if (!mayGo(url, body)) return await route.abort("blockedbyclient");
    const held = secrets.heldIn(`${url}\n${body.slice(0, maxCharacters)}`);
    if (held === undefined || (await browsing.follows(request)) !== false) return await route.fallback();
    browsing.tell(
      `A request to ${URL.parse(url)?.host} was refused: it held the secret ${held}, and came from a new tab or another site's frame, whose redirects are not seen. Send it from that tab again.`,
    );
    await route.abort("blockedbyclient");
  });
}
