import { posix } from "node:path";

/** The one risk that is the same for every address of a host, whatever address it quotes. */
const unnamedHost = /^Open “[^“”]*”(?: and \d+ more addresses)?, which you did not name$/;

/**
 * The kind of a call that opens these addresses: their hosts and ports. A call with a risk is of
 * another kind than one without, and one with another risk than an unnamed host is of none.
 */
export function sameHosts(urls: readonly string[], risk: string | undefined): string | undefined {
  const parsed = urls.map((url) => URL.parse(url.trim()));
  if (parsed.length === 0 || !parsed.every((url) => url !== null && /^https?:$/.test(url.protocol))) return undefined;
  const hosts = [...new Set(parsed.map((url) => (url?.protocol === "http:" ? url.origin : url?.host)))].toSorted();
  const pages = `with pages of ${hosts.join(" and ")}`;
  if (risk === undefined) return pages;
  return unnamedHost.test(risk) ? `${pages}, which you did not name and to which addresses can carry data` : undefined;
}

/** A click on something with words, and nothing else to be said of it. */
const plainClick = /^Click (“[^“”]*\p{L}{2}[^“”]*” on [\w.:[\]-]+)$/u;

/** The kind of a click: words and host, as the risk rules found them on the page. */
export function sameClick(risk: string | undefined): string | undefined {
  const [, what] = plainClick.exec(risk ?? "") ?? [];
  return what === undefined ? undefined : `that clicks ${what}`;
}

/** The kind of a call that changes this file, or only reads it: the file by its plain name. */
export function sameFile(path: string, reads: boolean, risk: string | undefined): string | undefined {
  const plain = posix.normalize(path);
  if (risk !== undefined || plain !== path || !/^[\p{L}\p{N} ._/-]{1,200}$/u.test(path)) return undefined;
  return `that ${reads ? "reads" : "changes"} ${path}`;
}
