const address = /\bhttps?:\/\/[^\s"'<>()[\]{}|\\^`]+/giu;
const bareName =
  /(?<![@\w./-])(?:(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+\p{L}{2,}|localhost|\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?(?![\w@])/giu;

/** Ends of file names that are also ends of hosts: taken for files unless the host is written as an address. */
const fileEnding = /\.(?:md|py|sh|rs|pl|ps|cc|zip|mov|so|js|ts|go)$/i;

/**
 * The hosts that a person's words name, as entries that cover a host and those below it: of addresses (`https://shop.example/cart`), and of
 * bare names (`shop.example`, `127.0.0.1:8080`). No host of a mail address.
 */
export function hostsNamedIn(text: string): string[] {
  return addressesNamedIn(text).map((url) => entryFor(new URL(url)));
}

/** The addresses that words name, those of bare names too. */
export function addressesNamedIn(text: string): string[] {
  // A sentence's end is no part of the address it ends with.
  const urls = (text.match(address) ?? []).map((url) => url.replace(/[.,;:!?]+$/, ""));
  const bare = (text.replaceAll(address, " ").match(bareName) ?? []).filter((name) => !fileEnding.test(name));
  return [...urls, ...bare.map((name) => `http://${name}`)].flatMap((text) => {
    const url = URL.parse(text);
    return url === null || url.hostname === "" ? [] : [url.href];
  });
}

/** The entry that covers a URL's host and, where it is a name, those below it. */
export function entryFor({ hostname, port }: URL): string {
  const isName = !hostname.startsWith("[") && !/^[\d.]+$/.test(hostname);
  const host = isName ? `*.${hostname.replace(/^www\./, "")}` : hostname;
  return port === "" ? host : `${host}:${port}`;
}
