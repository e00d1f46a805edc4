import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../../core/errors.ts";
import { withoutLastSlashes } from "../../../core/text/without-last-slashes.ts";
import type { ToolContext } from "../../../core/tools/tool.ts";
import type { Egress } from "../../../machine/egress/egress.ts";
import { type GitHosts, noGitHosts } from "../git-host.ts";
import type { ArchiveFile } from "./decompress.ts";

const fetchMs = 180_000;
const maxBytes = 100 * 1024 ** 2;

/**
 * An archive from the web as a file that no tool can see; disposing of it deletes it. Rejects with
 * `not_found` or as `Egress.fetch` does.
 */
export async function downloadArchive(
  url: string,
  egress: Egress,
  { workspace, signal }: ToolContext,
): Promise<ArchiveFile & AsyncDisposable> {
  const bytes = await download(url, egress, signal);
  const folder = join(workspace.metaRoot, "staging");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, crypto.randomUUID());
  const handle = await open(path, "wx+", 0o600);
  return {
    handle: await handle.writeFile(bytes).then(() => handle),
    size: bytes.length,
    async [Symbol.asyncDispose]() {
      await handle.close();
      await rm(path, { force: true });
    },
  };
}

async function download(url: string, egress: Egress, signal: AbortSignal): Promise<Uint8Array> {
  const { status, body } = await egress.fetch({
    url,
    headers: { "user-agent": "manyhands", accept: "application/gzip, application/zip, */*" },
    signal,
    timeoutMs: fetchMs,
    maxBytes,
    admit: async (hop) => {
      if (hop.protocol !== "https:")
        throw new AppError("forbidden", `The address leads to ${hop.origin}, which is not https.`);
    },
  });
  if (status === 200) return body;
  const missing = status === 404 || status === 401 || status === 403;
  throw new AppError(
    missing ? "not_found" : "unavailable",
    `${url} answered with status ${status}${missing ? ": there is no such repository or ref, or it is not public" : ""}.`,
  );
}

/** Where a repository's files are available as one archive, and the repository's name. */
export type ArchiveAddress = { readonly url: string; readonly name: string };

/** What an address names: an archive, or a repository, which may also be served as an archive. */
export type SourceAddress =
  | ({ readonly kind: "archive" } & ArchiveAddress)
  | {
      readonly kind: "repository";
      readonly url: string;
      readonly name: string;
      /** Undefined when the host is not known to serve archives. */
      archive: ((ref: string) => string) | undefined;
    };

/**
 * How a host serves the files of a repository as one archive. `HEAD` stands for the default branch.
 */
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

/**
 * Whether an address is on a host that serves many people's repositories: only the host sees what
 * is requested from it.
 */
export function isOnForge(address: string): boolean {
  const url = URL.parse(address.trim());
  return url?.protocol === "https:" && forgeOf(url) !== undefined;
}

const archiveName = /\.(?:zip|tar|tgz|tar\.gz)$/i;

/**
 * What an https address names. Throws `invalid_input` for other addresses, and for those that
 * cannot be a repository's, by its host's rules where the host is known.
 */
export function sourceAddress(address: string, hosts: Pick<GitHosts, "find"> = noGitHosts): SourceAddress {
  const url = URL.parse(address.trim());
  // What `hosts` names may be this machine itself; each request is checked again.
  if (url === null || (url.protocol !== "https:" && (url.protocol !== "http:" || hosts.find(url) === undefined)))
    throw new AppError("invalid_input", "Only addresses that begin with https:// can be cloned.");
  const path = withoutLastSlashes(url.pathname);
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
  const inAddress = (ref: string) => ref.split("/").map(encodeURIComponent).join("/");
  const archive = forge === undefined ? undefined : (ref: string) => forge(repository, name, inAddress(ref));
  return { kind: "repository", url: `${url.origin}${path}`, name, archive };
}
