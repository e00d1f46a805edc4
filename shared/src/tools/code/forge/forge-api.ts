import * as z from "zod";
import { AppError } from "../../../core/errors.ts";
import { sanitizeLine } from "../../../core/text/sanitize.ts";
import type { RemoteDeps } from "../git/upload-pack.ts";
import type { ForgeKind, HostedRepository } from "../git-host.ts";

/** An issue, in the words of those who wrote it. */
export type Issue = {
  readonly title: string;
  readonly state: string;
  readonly author: string;
  readonly body: string;
  readonly comments: readonly { readonly author: string; readonly body: string }[];
};

/** A pull request that is proposed: `head` is a branch of the same repository. */
export type Proposal = { readonly head: string; readonly base: string; readonly title: string; readonly body: string };

/** The API of a server, for one of its repositories. */
export interface ForgeApi {
  /** Rejects with `not_found`, `unauthorized`, or as `Egress.fetch` does. */
  issue(number: number): Promise<Issue>;
  /** The address of the open pull request of this branch into `base`. */
  openRequest(head: string, base: string): Promise<string | undefined>;
  /** Opens one and returns its address. Rejects with `rejected` and the server's reason. */
  open(proposal: Proposal): Promise<string>;
}

const name = z.looseObject({ login: z.string().optional(), username: z.string().optional() }).nullish();
const text = z.string().nullish();
const issue = z.looseObject({
  title: z.string(),
  state: text,
  user: name,
  author: name,
  body: text,
  description: text,
});
const notes = z.array(z.looseObject({ user: name, author: name, body: text, system: z.boolean().optional() }));
const request = z.looseObject({
  html_url: text,
  web_url: text,
  head: z.looseObject({ ref: z.string(), repo: z.looseObject({ full_name: z.string() }).nullish() }).nullish(),
  base: z.looseObject({ ref: z.string() }).nullish(),
  source_project_id: z.int().nullish(),
  target_project_id: z.int().nullish(),
});
const refusal = z.looseObject({ message: z.unknown().optional(), errors: z.unknown().optional() });

type Dialect = {
  readonly headers: (token: string) => Readonly<Record<string, string>>;
  readonly repository: (path: string) => string;
  readonly comments: (number: number) => string;
  readonly requests: string;
  /** The query that finds open requests of a branch. */
  readonly open: (path: string, head: string, base: string) => string;
  readonly proposal: (proposal: Proposal) => object;
};

const asGitHub = ({ head, base, title, body }: Proposal) => ({ head, base, title, body });
const encoded = encodeURIComponent;

/** How each kind of server words the same requests. */
const dialects: Readonly<Record<Exclude<ForgeKind, "git">, Dialect>> = {
  github: {
    headers: (token) => ({ authorization: `Bearer ${token}`, accept: "application/vnd.github+json" }),
    repository: (path) => `/repos/${path}`,
    comments: (number) => `/issues/${number}/comments?per_page=100`,
    requests: "/pulls",
    open: (path, head, base) =>
      `state=open&per_page=100&head=${encoded(`${path.split("/")[0]}:${head}`)}&base=${encoded(base)}`,
    proposal: asGitHub,
  },
  gitea: {
    headers: (token) => ({ authorization: `token ${token}`, accept: "application/json" }),
    repository: (path) => `/repos/${path}`,
    comments: (number) => `/issues/${number}/comments`,
    requests: "/pulls",
    // It has no filter by branch: `openRequest` looks through the pages.
    open: () => "state=open&sort=recentupdate&limit=50",
    proposal: asGitHub,
  },
  gitlab: {
    headers: (token) => ({ authorization: `Bearer ${token}`, accept: "application/json" }),
    repository: (path) => `/projects/${encoded(path)}`,
    comments: (number) => `/issues/${number}/notes?sort=asc&per_page=100`,
    requests: "/merge_requests",
    open: (_, head, base) => `state=opened&source_branch=${encoded(head)}&target_branch=${encoded(base)}`,
    proposal: ({ head, base, title, body }) => ({
      source_branch: head,
      target_branch: base,
      title,
      description: body,
    }),
  },
};

const askMs = 30_000;
const maxAnswer = 5 * 1024 ** 2;
const maxPages = 20;

/** The API of the repository's host. Throws `unsupported` for a host of which no API is known. */
export function forgeApi({ host, path }: HostedRepository, { egress, hosts, signal }: RemoteDeps): ForgeApi {
  if (host.kind === "git")
    throw new AppError(
      "unsupported",
      `The settings do not say which API ${host.host} has: [git."${host.host}"] kind = "github", "gitlab" or "gitea".`,
    );
  const dialect = dialects[host.kind];
  const ask = async <Schema extends z.ZodType>(address: string, schema: Schema, body?: object) => {
    const url = `${host.api}${dialect.repository(path)}${address}`;
    const headers = { "user-agent": "manyhands", ...(host.token !== undefined && dialect.headers(host.token)) };
    const { status, body: bytes } = await egress.fetch({
      ...(body === undefined ? { headers } : { body: JSON.stringify(body) }),
      url,
      headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
      signal,
      timeoutMs: askMs,
      maxBytes: maxAnswer,
      admit: async (hop) => hosts.admit(hop),
    });
    const answer = jsonOf(bytes);
    if (status >= 300) throw failed(status, `${host.host}/${path}`, answer);
    const read = schema.safeParse(answer);
    if (!read.success) throw new AppError("unavailable", `${host.host} does not answer like ${host.kind}.`);
    return read.data;
  };
  const pages = host.kind === "gitea" ? maxPages : 1;
  return {
    async issue(number) {
      const one = await ask(`/issues/${number}`, issue);
      const said = await ask(dialect.comments(number), notes);
      const comments = said.filter(({ system }) => system !== true);
      return {
        title: one.title,
        state: one.state ?? "",
        author: nameOf(one),
        body: one.body ?? one.description ?? "",
        comments: comments.map((note) => ({ author: nameOf(note), body: note.body ?? "" })),
      };
    },
    async openRequest(head, base) {
      for (let page = 1; page <= pages; page++) {
        const query = `${dialect.requests}?${dialect.open(path, head, base)}&page=${page}`;
        const found = await ask(query, z.array(request));
        const one = found.find((each) => isOf(each, path, head, base));
        if (one !== undefined) return one.html_url ?? one.web_url ?? "";
        if (found.length === 0) return undefined;
      }
      return undefined;
    },
    async open(proposal) {
      const opened = await ask(dialect.requests, request, dialect.proposal(proposal));
      return opened.html_url ?? opened.web_url ?? "";
    },
  };
}

/** GitLab has filtered by branch already, but for the project that the branch is of. */
function isOf(one: z.output<typeof request>, path: string, branch: string, into: string): boolean {
  const { head, base } = one;
  if (head == null || base == null) return one.source_project_id === one.target_project_id;
  return (
    head.ref === branch && base.ref === into && (head.repo?.full_name ?? path).toLowerCase() === path.toLowerCase()
  );
}

function nameOf({ user, author }: { readonly user?: z.output<typeof name>; readonly author?: z.output<typeof name> }) {
  const one = user ?? author;
  return one?.login ?? one?.username ?? "somebody";
}

function failed(status: number, where: string, answer: unknown): AppError {
  const { message, errors } = refusal.safeParse(answer).data ?? {};
  if (status === 429 || (status === 403 && /rate limit/i.test(JSON.stringify(message ?? ""))))
    return new AppError("rate_limited", `${where}: the server accepts no more requests for now; try again later.`);
  if (status === 401 || status === 403)
    return new AppError("unauthorized", `${where}: the token of the settings may not do that (status ${status}).`);
  if (status === 404) return new AppError("not_found", `${where}: there is no such thing, or the token cannot see it.`);
  const why = sanitizeLine(
    [message, errors]
      .filter(Boolean)
      .map((one) => JSON.stringify(one))
      .join(" "),
    300,
  );
  return new AppError(status < 500 ? "rejected" : "unavailable", `${where} answered with status ${status}: ${why}`);
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch {
    return undefined;
  }
}
