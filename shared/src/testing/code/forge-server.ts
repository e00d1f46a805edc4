import { type GitServer, startGitServer } from "./git-server.ts";

/** A server of private repositories with Gitea's API, as far as issues and pull requests go. */
export type ForgeServer = {
  readonly git: GitServer;
  /** `http://127.0.0.1:PORT`, and the host in it. */
  readonly origin: string;
  readonly host: string;
  /** The one token it takes. */
  readonly token: string;
  readonly issues: Map<string, { readonly title: string; readonly body: string; readonly comments: readonly string[] }>;
  /** The pull requests that were opened, in order. */
  readonly opened: readonly { readonly head: string; readonly base: string; readonly title: string }[];
  /** The requests that changed something: `push` or `open`, in order. */
  readonly changes: readonly string[];
  /** Called after something changed and before the caller hears of it. */
  afterChange: (what: string) => Promise<void>;
  /** What git prints there. */
  run(repository: string, ...args: string[]): string;
  close(): Promise<void>;
};

/** Starts one; it answers nobody without the token. */
export async function startForgeServer(): Promise<ForgeServer> {
  const token = `token-${crypto.randomUUID()}`;
  const basic = `Basic ${Buffer.from(`oauth2:${token}`).toString("base64")}`;
  const issues: ForgeServer["issues"] = new Map();
  const opened: { head: string; base: string; title: string }[] = [];
  const changes: string[] = [];
  const git = await startGitServer(async (url, request) => {
    const known = [basic, `token ${token}`].includes(request.headers.get("authorization") ?? "");
    if (!known) return Response.json({ message: "Not Found" }, { status: 401 });
    if (url.pathname.startsWith("/api/v1/repos/")) return await api(url, request);
    if (!url.pathname.endsWith("/git-receive-pack") || request.method !== "POST") return undefined;
    const answer = await git.answer(url, request);
    changes.push("push");
    await forge.afterChange("push");
    return answer;
  });
  const { origin, host } = git.server.url;
  const api = async (url: URL, request: Request): Promise<Response> => {
    const [, owner, name, kind, number, more] =
      /^\/api\/v1\/repos\/([^/]+)\/([^/]+)\/(issues|pulls)(?:\/(\d+))?(\/comments)?$/.exec(url.pathname) ?? [];
    const path = `${owner}/${name}`;
    const issue = issues.get(`${path}#${number}`);
    if (kind === "issues" && issue !== undefined) {
      const user = { login: "ann" };
      if (more !== undefined) return Response.json(issue.comments.map((body) => ({ user, body })));
      return Response.json({ title: issue.title, body: issue.body, state: "open", user });
    }
    if (kind !== "pulls") return Response.json({ message: "Not Found" }, { status: 404 });
    const shown = ({ head, base, title }: (typeof opened)[number], at: number) => ({
      title,
      html_url: `${origin}/${path}/pulls/${at + 1}`,
      head: { ref: head, repo: { full_name: path } },
      base: { ref: base },
    });
    if (request.method === "GET") {
      const first = url.searchParams.get("page") === "1";
      return Response.json(first ? opened.map(shown) : []);
    }
    const proposal = (await request.json()) as (typeof opened)[number];
    if (opened.some(({ head, base }) => head === proposal.head && base === proposal.base))
      return Response.json({ message: "pull request already exists for these targets" }, { status: 409 });
    opened.push(proposal);
    changes.push("open");
    await forge.afterChange("open");
    return Response.json(shown(proposal, opened.length - 1), { status: 201 });
  };
  const forge: ForgeServer = {
    git,
    origin,
    host,
    token,
    issues,
    opened,
    changes,
    afterChange: async () => undefined,
    run: (repository, ...args) => {
      const argv = ["git", "-c", "safe.directory=*", "-C", `${git.folder}/${repository}.git`, ...args];
      return Bun.spawnSync(argv).stdout.toString().trim();
    },
    close: () => git.close(),
  };
  return forge;
}
