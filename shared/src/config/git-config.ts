import { withoutLastSlashes } from "../core/text/without-last-slashes.ts";
import type { ForgeKind, GitHost } from "../tools/code/git-host.ts";
import type { Settings } from "./settings/settings.ts";
import { faultAt } from "./settings/settings-error.ts";

/** Servers that everybody knows. */
const knownKinds: Readonly<Record<string, ForgeKind>> = {
  "github.com": "github",
  "gitlab.com": "gitlab",
  "gitea.com": "gitea",
  "codeberg.org": "gitea",
};

/** What these servers take as the name beside a token. */
const usernames: Readonly<Record<ForgeKind, string>> = {
  github: "x-access-token",
  gitlab: "oauth2",
  gitea: "oauth2",
  git: "git",
};

/** The hosts of `[git."HOST"]`. Throws `config_invalid` for two tables of one host. */
export function gitConfig(settings: Settings): readonly GitHost[] {
  const hosts = Object.entries(settings.sections.git).map(([name, table]): GitHost => {
    const host = (table.host ?? name).toLowerCase();
    const named = table.kind === "forgejo" ? "gitea" : table.kind;
    const kind = named ?? knownKinds[host] ?? "git";
    const [, author = "", email = ""] = /^(.*?)\s*<(.*)>$/.exec(table.author) ?? [];
    return {
      host,
      kind,
      token: table.token,
      username: table.username ?? usernames[kind],
      api: table.api === undefined ? apiOf(host, kind) : withoutLastSlashes(table.api),
      repositories: table.repositories,
      push: table.push,
      author: { name: author, email },
    };
  });
  const twice = hosts.find(({ host }, at) => hosts.findIndex((other) => other.host === host) !== at);
  if (twice !== undefined) throw faultAt(settings, ["git"], `[git] names the host ${twice.host} twice.`);
  return hosts;
}

function apiOf(host: string, kind: ForgeKind): string {
  if (kind === "github") return host === "github.com" ? "https://api.github.com" : `https://${host}/api/v3`;
  return `https://${host}/api/${kind === "gitlab" ? "v4" : "v1"}`;
}
