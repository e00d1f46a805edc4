import { AppError } from "../../core/errors.ts";

/**
 * The kinds of servers whose API opens pull requests; `git`: only git's own protocol is spoken.
 * Forgejo speaks the API of Gitea.
 */
export type ForgeKind = "github" | "gitlab" | "gitea" | "git";

/** A server of repositories that the settings name, and what they allow there. */
export type GitHost = {
  /** As in a URL: `git.example` or `git.example:3000`. */
  readonly host: string;
  readonly kind: ForgeKind;
  readonly token: string | undefined;
  readonly username: string;
  /** The base address of its API. */
  readonly api: string;
  /** The repositories that the token is used for: `OWNER/NAME` or `OWNER/*`; all if undefined. */
  readonly repositories: readonly string[] | undefined;
  /** Whether a person decides about each push, none is needed, or nothing is pushed. */
  readonly push: "ask" | "allow" | "never";
  /** Name and address in commits. */
  readonly author: { readonly name: string; readonly email: string };
};

/** A repository on a host that the settings name. */
export type HostedRepository = { readonly host: GitHost; readonly path: string };

/** The hosts that the settings name. No model, sandbox, message or file ever sees their tokens. */
export interface GitHosts {
  readonly any: boolean;
  /**
   * The repository at this address, without `.git`, if its host is named and its token may be used
   * for it.
   */
  find(address: string | URL): HostedRepository | undefined;
  /**
   * The headers that show git's server who asks; none for a host or a repository that is not
   * listed.
   */
  authorization(address: string | URL): Readonly<Record<string, string>>;
  /**
   * Throws `forbidden` unless the address is https, or this machine's own as the settings name it.
   */
  admit(url: URL): void;
}

/** The hosts of the settings. */
export function createGitHosts(hosts: readonly GitHost[]): GitHosts {
  const hostOf = (url: URL) => hosts.find(({ host }) => host === url.host);
  const find = (address: string | URL): HostedRepository | undefined => {
    const url = URL.parse(String(address));
    const host = url === null ? undefined : hostOf(url);
    if (url === null || host === undefined) return undefined;
    const path = url.pathname.replace(/^\/+|(?<!\/)\/+$/g, "").replace(/\.git$/, "");
    return path !== "" && covers(host, path) ? { host, path } : undefined;
  };
  return {
    any: hosts.length > 0,
    find,
    authorization(address) {
      const { host } = find(address) ?? {};
      if (host?.token === undefined) return {};
      return { authorization: `Basic ${Buffer.from(`${host.username}:${host.token}`).toString("base64")}` };
    },
    admit(url) {
      if (url.protocol === "https:" || (isLoopback(url) && hostOf(url) !== undefined)) return;
      throw new AppError("forbidden", `The address leads to ${url.origin}, which is not https.`);
    },
  };
}

/** No host is named. */
export const noGitHosts: GitHosts = createGitHosts([]);

function covers({ repositories }: GitHost, path: string): boolean {
  if (repositories === undefined) return true;
  const named = path.toLowerCase();
  return repositories.some((one) => {
    const entry = one.toLowerCase();
    return entry.endsWith("/*") ? named.startsWith(entry.slice(0, -1)) : named === entry;
  });
}

/** A number, never a name: names are other people's to resolve. */
function isLoopback({ hostname }: URL): boolean {
  return /^127\.\d+\.\d+\.\d+$/.test(hostname) || hostname === "[::1]";
}
