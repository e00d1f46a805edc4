import { AppError } from "../../../core/errors.ts";

/** Where the files of a repository can be had as one archive, and what the repository is called. */
export type ArchiveAddress = { readonly url: string; readonly name: string };

/** What an address names: an archive, or a repository, which may be served as an archive too. */
export type SourceAddress =
  | ({ readonly kind: "archive" } & ArchiveAddress)
  | {
      readonly kind: "repository";
      readonly url: string;
      readonly name: string;
      /** Undefined where the host is not known to serve any. */
      archive: ((ref: string) => string) | undefined;
    };

/** How a host serves the files of a repository as one archive. `HEAD` stands for the default branch. */
type Forge = (repository: string, name: string, ref: string) => string;

const forges: ReadonlyMap<string, Forge> = new Map<string, Forge>([
  ["github.com", (repository, _, ref) => `https://codeload.github.com/${repository}/tar.gz/${ref}`],
  [
    "gitlab.com",
    (repository, name, ref) =>
      `https://gitlab.com/${repository}/-/archive/${ref}/${name}-${ref.replaceAll("/", "-")}.tar.gz`,
  ],
  ["bitbucket.org", (repository, _, ref) => `https://bitbucket.org/${repository}/get/${ref}.tar.gz`],
  ["codeberg.org", (repository, _, ref) => `https://codeberg.org/${repository}/archive/${ref}.tar.gz`],
]);

const forgeOf = ({ host }: URL): Forge | undefined => forges.get(host.replace(/^www\./, ""));

/** Whether an address is on a host that serves many people's repositories: what is asked of it, nobody else gets to know. */
export function isOnForge(address: string): boolean {
  const url = URL.parse(address.trim());
  return url?.protocol === "https:" && forgeOf(url) !== undefined;
}

const archiveName = /\.(?:zip|tar|tgz|tar\.gz)$/i;

/** What an https address names. Throws `invalid_input` for what is none, or no repository of a host that is known. */
export function sourceAddress(address: string): SourceAddress {
  const url = URL.parse(address.trim());
  if (url === null || url.protocol !== "https:")
    throw new AppError("invalid_input", "Only addresses that begin with https:// can be cloned.");
  const path = url.pathname.replace(/\/+$/, "");
  const last = path.slice(path.lastIndexOf("/") + 1);
  if (archiveName.test(last) && last.replace(archiveName, "") !== "")
    return { kind: "archive", url: url.href, name: last.replace(archiveName, "") };
  const repository = path.replace(/\.git$/, "").replace(/^\/+/, "");
  const name = last.replace(/\.git$/, "");
  const forge = forgeOf(url);
  const names = repository.split("/");
  const sound = names.every((each) => /^[\w.~-]+$/.test(each) && !/^\.+$/.test(each)) && url.search === "";
  const fits = forge === undefined || names.length === 2 || (names.length > 2 && url.host === "gitlab.com");
  if (!sound || !fits)
    throw new AppError(
      "invalid_input",
      `${address} is not the address of a repository, as https://${url.host}/OWNER/NAME is. Give a branch or tag as \`ref\`.`,
    );
  const archive = forge === undefined ? undefined : (ref: string) => forge(repository, name, ref);
  return { kind: "repository", url: `${url.origin}${path}`, name, archive };
}
