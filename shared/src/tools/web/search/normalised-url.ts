import { withoutLastSlashes } from "../../../core/text/without-last-slashes.ts";

const tracking = /^(?:utm_\w+|fbclid|gclid|msclkid|mc_[ce]id|srsltid|ref_src)$/i;

/**
 * A form of an address that is the same for addresses of the same page; undefined when it is not an
 * http(s) URL.
 */
export function normalisedUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  for (const name of [...url.searchParams.keys()]) if (tracking.test(name)) url.searchParams.delete(name);
  url.searchParams.sort();
  const host = url.host.replace(/^(?:www|m)\./, "").replace(/\.$/, "");
  return `${host}${withoutLastSlashes(url.pathname)}${url.search}`;
}
