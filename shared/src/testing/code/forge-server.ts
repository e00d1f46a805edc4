import { type ForgeIssue, forgeWires, type OpenedRequest } from "./forge-wires.ts";
import { type GitServer, startGitServer } from "./git-server.ts";

/**
 * A server of private repositories with the API of its kind, as far as issues and pull requests go.
 */
export type ForgeServer = {
  readonly git: GitServer;
  /** `http://127.0.0.1:PORT`, and the host in it. */
  readonly origin: string;
  readonly host: string;
  /** The base address of its API. */
  readonly api: string;
  /** The one token it takes. */
  readonly token: string;
  readonly issues: Map<string, ForgeIssue>;
  /** The pull requests that were opened, in order. */
  readonly opened: OpenedRequest[];
  /** The requests that changed something: `push` or `open`, in order. */
  readonly changes: readonly string[];
  /** Called after something changed and before the caller hears of it. */
  afterChange: (what: string) => Promise<void>;
  /** Answers in place of the API, if it is to fail. */
  refuse: (url: URL) => Response | undefined;
  /** What git prints there. */
  run(repository: string, ...args: string[]): string;
  close(): Promise<void>;
};

/** Starts one; it answers nobody without the token. */
export async function startForgeServer(kind: keyof typeof forgeWires = "gitea"): Promise<ForgeServer> {
  const token = `token-${crypto.randomUUID()}`;
  const wire = forgeWires[kind];
  const username = { github: "x-access-token", gitea: "oauth2", gitlab: "oauth2" }[kind];
  const basic = `Basic ${Buffer.from(`${username}:${token}`).toString("base64")}`;
  const issues: ForgeServer["issues"] = new Map();
  const opened: OpenedRequest[] = [];
  const changes: string[] = [];
  const changed = async (what: string) => {
    changes.push(what);
    await forge.afterChange(what);
  };
  const git = await startGitServer(async (url, request) => {
    const isApi = url.pathname.startsWith(`${wire.base}/`);
    const known = isApi ? wire.authorization(token) : basic;
    if (request.headers.get("authorization") !== known)
      return Response.json({ message: isApi ? "Bad credentials" : "Not Found" }, { status: 401 });
    const facts = { origin, token, issues, opened, onOpened: () => changed("open") };
    if (isApi) return forge.refuse(url) ?? (await wire.answer(url, request, facts));
    if (!url.pathname.endsWith("/git-receive-pack") || request.method !== "POST") return undefined;
    const answer = await git.answer(url, request);
    await changed("push");
    return answer;
  });
  const { origin, host } = git.server.url;
  const forge: ForgeServer = {
    git,
    origin,
    host,
    api: `${origin}${wire.base}`,
    token,
    issues,
    opened,
    changes,
    afterChange: async () => undefined,
    refuse: () => undefined,
    run: (repository, ...args) => {
      const argv = ["git", "-c", "safe.directory=*", "-C", `${git.folder}/${repository}.git`, ...args];
      return Bun.spawnSync(argv).stdout.toString().trim();
    },
    close: () => git.close(),
  };
  return forge;
}
