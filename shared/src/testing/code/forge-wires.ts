/** A pull request at a test forge. */
export type OpenedRequest = { readonly head: string; readonly base: string; readonly title: string };

/** An issue at a test forge. */
export type ForgeIssue = { readonly title: string; readonly body: string; readonly comments: readonly string[] };

/** What a test forge knows, for its API to tell. */
export type ForgeFacts = {
  readonly origin: string;
  readonly token: string;
  readonly issues: ReadonlyMap<string, ForgeIssue>;
  readonly opened: OpenedRequest[];
  /** Called when a request was opened, before the caller hears of it. */
  readonly onOpened: () => Promise<void>;
};

/** How one kind of server words its API, as its documentation has it. */
export type ForgeWire = {
  /** The path before that of a repository. */
  readonly base: string;
  readonly authorization: (token: string) => string;
  readonly answer: (url: URL, request: Request, facts: ForgeFacts) => Promise<Response>;
};

const json = (body: unknown, status = 200) => Response.json(body as object, { status });

/** GitHub's REST API, and Gitea's, which follows it. */
function likeGitHub(kind: "github" | "gitea"): ForgeWire["answer"] {
  return async (url, request, { origin, issues, opened, onOpened }) => {
    const [, path = "", about, number, more] =
      /\/repos\/([^/]+\/[^/]+)\/(issues|pulls)(?:\/(\d+))?(\/comments)?$/.exec(url.pathname) ?? [];
    const user = { login: "ann", id: 1, type: "User" };
    const issue = issues.get(`${path}#${number}`);
    if (about === "issues" && issue !== undefined) {
      if (more !== undefined) return json(issue.comments.map((body, id) => ({ id, user, body })));
      return json({ number: Number(number), title: issue.title, body: issue.body, state: "open", user, labels: [] });
    }
    if (about !== "pulls") return json({ message: "Not Found", status: "404" }, 404);
    const owner = path.split("/")[0];
    const shown = ({ head, base, title }: OpenedRequest, at: number) => ({
      number: at + 1,
      state: "open",
      title,
      user,
      url: `${origin}/api/pulls/${at + 1}`,
      html_url: `${origin}/${path}/${kind === "github" ? "pull" : "pulls"}/${at + 1}`,
      head: { label: kind === "github" ? `${owner}:${head}` : head, ref: head, repo: { full_name: path } },
      base: { label: base, ref: base, repo: { full_name: path } },
    });
    if (request.method === "GET") {
      const { searchParams } = url;
      if (searchParams.get("page") !== "1") return json([]);
      const wanted = searchParams.get("head");
      const isWanted = ({ head, base }: OpenedRequest) =>
        kind === "gitea" || ((wanted === null || wanted === `${owner}:${head}`) && searchParams.get("base") === base);
      return json(opened.map(shown).filter((_, at) => isWanted(opened[at] as OpenedRequest)));
    }
    const proposal = (await request.json()) as OpenedRequest;
    if (opened.some(({ head, base }) => head === proposal.head && base === proposal.base)) {
      const message = `A pull request already exists for ${owner}:${proposal.head}.`;
      if (kind === "gitea") return json({ message: "pull request already exists for these targets", url: origin }, 409);
      const errors = [{ resource: "PullRequest", code: "custom", message }];
      return json({ message: "Validation Failed", errors, documentation_url: origin, status: "422" }, 422);
    }
    opened.push(proposal);
    await onOpened();
    return json(shown(proposal, opened.length - 1), 201);
  };
}

const gitlab: ForgeWire["answer"] = async (url, request, { origin, issues, opened, onOpened }) => {
  const [, project = "", about, number, more] =
    /\/projects\/([^/]+)\/(issues|merge_requests)(?:\/(\d+))?(\/notes)?$/.exec(url.pathname) ?? [];
  const path = decodeURIComponent(project);
  const author = { id: 1, username: "ann", name: "Ann", state: "active" };
  const issue = issues.get(`${path}#${number}`);
  if (about === "issues" && issue !== undefined) {
    const notes = issue.comments.map((body, id) => ({ id, body, author, system: false, noteable_type: "Issue" }));
    const assigned = { id: 99, body: "assigned to @ann", author, system: true, noteable_type: "Issue" };
    if (more !== undefined) return json([assigned, ...notes]);
    const { title, body: description } = issue;
    return json({ id: 70, iid: Number(number), project_id: 3, title, description, state: "opened", author });
  }
  if (about !== "merge_requests") return json({ message: "404 Project Not Found" }, 404);
  const shown = ({ head, base, title }: OpenedRequest, at: number) => ({
    id: 100 + at,
    iid: at + 1,
    project_id: 3,
    source_project_id: head.startsWith("fork:") ? 4 : 3,
    target_project_id: 3,
    title,
    state: "opened",
    source_branch: head.replace(/^fork:/, ""),
    target_branch: base,
    author,
    web_url: `${origin}/${path}/-/merge_requests/${at + 1}`,
  });
  if (request.method === "GET") {
    const { searchParams } = url;
    const found = opened.map(shown).filter((one) => {
      const isOf = one.source_branch === searchParams.get("source_branch");
      return isOf && one.target_branch === searchParams.get("target_branch") && searchParams.get("page") === "1";
    });
    return json(found);
  }
  const { source_branch: head, target_branch: base, title } = (await request.json()) as Record<string, string>;
  if (head === undefined || base === undefined || title === undefined)
    return json({ error: "title is missing, source_branch is missing" }, 400);
  const before = opened.findIndex((one) => one.head === head && one.base === base);
  if (before >= 0) {
    const message = `Another open merge request already exists for this source branch: !${before + 1}`;
    return json({ message: [message] }, 409);
  }
  opened.push({ head, base, title });
  await onOpened();
  return json(shown({ head, base, title }, opened.length - 1), 201);
};

/** The three kinds. */
export const forgeWires: Readonly<Record<"github" | "gitea" | "gitlab", ForgeWire>> = {
  github: { base: "/api/v3", authorization: (token) => `Bearer ${token}`, answer: likeGitHub("github") },
  gitea: { base: "/api/v1", authorization: (token) => `token ${token}`, answer: likeGitHub("gitea") },
  gitlab: { base: "/api/v4", authorization: (token) => `Bearer ${token}`, answer: gitlab },
};
