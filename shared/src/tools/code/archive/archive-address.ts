import { AppError } from "../../../errors.ts";

/** Where the archive of a repository can be fetched, and what the repository is called. */
export type ArchiveAddress = { readonly url: string; readonly name: string };

/** How a host serves the files of a repository as one archive. `HEAD` stands for the default branch. */
type Forge = (repository: string, name: string, ref: string) => string;

const forges: Readonly<Record<string, Forge>> = {
  "github.com": (repository, _, ref) => `https://codeload.github.com/${repository}/tar.gz/${ref}`,
  "gitlab.com": (repository, name, ref) =>
    `https://gitlab.com/${repository}/-/archive/${ref}/${name}-${ref.replaceAll("/", "-")}.tar.gz`,
  "bitbucket.org": (repository, _, ref) => `https://bitbucket.org/${repository}/get/${ref}.tar.gz`,
  "codeberg.org": (repository, _, ref) => `https://codeberg.org/${repository}/archive/${ref}.tar.gz`,
};

const archive = /\.(?:zip|tar|tgz|tar\.gz)$/i;

/**
 * The archive behind a repository's address on a known host, or behind an address that names an archive. Throws `invalid_input` for what is no https address,
 * `unsupported` for other hosts.
 */
export function archiveAddress(address: string, ref = "HEAD"): ArchiveAddress {
  const url = URL.parse(address.trim());
  if (url === null || url.protocol !== "https:")
    throw new AppError("invalid_input", "Only addresses that begin with https:// can be cloned.");
  const path = url.pathname.replace(/\/+$/, "");
  const forge = forges[url.host.replace(/^www\./, "")];
  if (forge === undefined || archive.test(path)) {
    const name = path.slice(path.lastIndexOf("/") + 1).replace(archive, "");
    if (archive.test(path) && name !== "") return { url: url.href, name };
    const hosts = Object.keys(forges).join(", ");
    throw new AppError(
      "unsupported",
      `Repositories can be cloned from ${hosts}; from elsewhere give the address of an archive (.zip, .tar.gz).`,
    );
  }
  const repository = path.replace(/\.git$/, "").replace(/^\/+/, "");
  const names = repository.split("/");
  const sound = names.length >= 2 && names.every((name) => /^[\w.-]+$/.test(name) && !/^\.+$/.test(name));
  if (!sound || (names.length > 2 && url.host !== "gitlab.com"))
    throw new AppError(
      "invalid_input",
      `${address} is not the address of a repository, as https://${url.host}/OWNER/NAME is. Give a branch or tag as \`ref\`.`,
    );
  const name = names.at(-1) ?? "";
  return { url: forge(repository, name, ref), name };
}
