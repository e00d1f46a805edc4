import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { AppError } from "../../../core/errors.ts";
import { createEgress, type Egress } from "../../../machine/egress/egress.ts";
import type { EgressRequest } from "../../../machine/egress/fetch-within.ts";
import { type ForgeServer, startForgeServer } from "../../../testing/code/forge-server.ts";
import { createGitHosts } from "../git-host.ts";
import { type ForgeApi, forgeApi } from "./forge-api.ts";

const repository = "ann/app";
const proposal = { head: "fix/total", base: "main", title: "Count all", body: "Closes #7." };

describe.each(["github", "gitea", "gitlab"] as const)("the API of %s", (kind) => {
  let forge: ForgeServer;
  const apiWith = (token = forge.token, path = repository): ForgeApi => {
    const author = { name: "Many", email: "many@example.com" };
    const host = { host: forge.host, kind, token, username: "x", api: forge.api, push: "ask", author } as const;
    const hosts = createGitHosts([{ ...host, repositories: undefined }]);
    const found = hosts.find(`${forge.origin}/${path}`);
    if (found === undefined) throw new Error("the host is not known");
    const egress = createEgress({ allow: [forge.host], deny: [], only: [] });
    return forgeApi(found, { egress, hosts, signal: AbortSignal.timeout(20_000) });
  };
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: AppError) => `${error.code}: ${error.message}`,
    );

  beforeAll(async () => {
    forge = await startForgeServer(kind);
    const issue = { title: "total() is wrong", body: "It is 5.", comments: ["Here too.", "Since May."] };
    forge.issues.set(`${repository}#7`, issue);
  });
  afterAll(() => forge.close());

  test("an issue is read with who wrote what, without what the server itself noted", async () => {
    const { state, ...issue } = await apiWith().issue(7);
    expect(state).toStartWith("open");
    expect(issue).toEqual({
      title: "total() is wrong",
      author: "ann",
      body: "It is 5.",
      comments: [
        { author: "ann", body: "Here too." },
        { author: "ann", body: "Since May." },
      ],
    });
  });

  test("a request is opened once, found again, and not opened twice", async () => {
    const api = apiWith();
    expect(await api.openRequest(proposal.head, proposal.base)).toBeUndefined();
    const address = await api.open(proposal);
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/ann\/app\/(?:pull|pulls|-\/merge_requests)\/1$/);
    expect(await api.openRequest(proposal.head, proposal.base)).toBe(address);
    expect(await api.openRequest(proposal.head, "next")).toBeUndefined();
    expect(await api.openRequest("other", proposal.base)).toBeUndefined();
    expect(await failure(api.open(proposal))).toMatch(/^rejected: .*already exists/);
    expect(forge.opened).toMatchObject([{ head: "fix/total", base: "main", title: "Count all" }]);
  });

  test("what fails says whether the token, the address or the server is to blame", async () => {
    expect(await failure(apiWith("wrong").issue(7))).toStartWith("unauthorized: ");
    expect(await failure(apiWith().issue(8))).toStartWith("not_found: ");
    const cases = [
      [403, "unauthorized"],
      [404, "not_found"],
      [422, "rejected"],
      [429, "rate_limited"],
      [503, "unavailable"],
    ] as const;
    for (const [status, code] of cases) {
      forge.refuse = () => Response.json({ message: "No.", error: "no" }, { status });
      expect(await failure(apiWith().issue(7))).toStartWith(`${code}: `);
    }
    forge.refuse = () => Response.json({ message: "API rate limit exceeded for 1.2.3.4" }, { status: 403 });
    expect(await failure(apiWith().issue(7))).toStartWith("rate_limited: ");
    forge.refuse = () => new Response("<html>Sign in</html>", { headers: { "content-type": "text/html" } });
    expect(await failure(apiWith().issue(7))).toStartWith("unavailable: ");
    forge.refuse = () => undefined;
  });
});

test("a merge request that a fork makes of a branch of that name is another one", async () => {
  const forge = await startForgeServer("gitlab");
  try {
    forge.opened.push({ head: "fork:fix/total", base: "main", title: "Of a fork" });
    const author = { name: "Many", email: "many@example.com" };
    const host = { host: forge.host, kind: "gitlab", token: forge.token, username: "x", api: forge.api } as const;
    const hosts = createGitHosts([{ ...host, push: "ask", author, repositories: undefined }]);
    const found = hosts.find(`${forge.origin}/${repository}`);
    if (found === undefined) throw new Error("the host is not known");
    const egress = createEgress({ allow: [forge.host], deny: [], only: [] });
    const api = forgeApi(found, { egress, hosts, signal: AbortSignal.timeout(20_000) });
    expect(await api.openRequest("fix/total", "main")).toBeUndefined();
  } finally {
    await forge.close();
  }
});

/** The API of a server that answers each request with the next of these, and what it was asked. */
function answering(kind: "github" | "gitea" | "gitlab", answers: readonly unknown[], token: string | null = "t") {
  const author = { name: "Many", email: "many@example.com" };
  const host = {
    host: "git.example",
    kind,
    token: token ?? undefined,
    username: "x",
    api: "https://git.example/api",
  } as const;
  const hosts = createGitHosts([{ ...host, push: "ask", author, repositories: undefined } as never]);
  const found = hosts.find("https://git.example/ann/app");
  if (found === undefined) throw new Error("the host is not known");
  const asked: EgressRequest[] = [];
  const left = [...answers];
  const egress: Egress = {
    async fetch(request) {
      asked.push(request);
      const body = Buffer.from(JSON.stringify(left.shift() ?? []));
      return { url: new URL(request.url), status: 200, headers: {}, body };
    },
  };
  return { asked, api: forgeApi(found, { egress, hosts, signal: new AbortController().signal }) };
}

test.each([
  ["fork/app", undefined],
  ["Ann/App", "https://git.example/1"],
  [undefined, "https://git.example/1"],
])("a pull request whose branch is in %s is of this repository: %p", async (full_name, address) => {
  const head = { ref: "fix", repo: full_name === undefined ? null : { full_name } };
  const one = { html_url: "https://git.example/1", head, base: { ref: "main" } };
  for (const kind of ["github", "gitea"] as const)
    expect(await answering(kind, [[one]]).api.openRequest("fix", "main")).toBe(address as string);
});

test("each address that a redirect leads to is admitted as the first was", async () => {
  const { asked, api } = answering("github", [{ title: "a" }, []]);
  await api.issue(7);
  expect(asked.map(({ url }) => String(url))).toEqual([
    "https://git.example/api/repos/ann/app/issues/7",
    "https://git.example/api/repos/ann/app/issues/7/comments?per_page=100",
  ]);
  for (const { admit, headers } of asked) {
    expect(headers).toMatchObject({ authorization: "Bearer t" });
    await expect(admit?.(new URL("http://git.example/api"))).rejects.toMatchObject({ code: "forbidden" });
    await admit?.(new URL("https://git.example/other"));
  }
});

test.each([
  ["github", "state=open"],
  ["gitea", "state=open"],
  ["gitlab", "state=opened"],
] as const)("only requests that are open count at %s, and without a token none is sent", async (kind, state) => {
  const { asked, api } = answering(kind, [[]], null);
  expect(await api.openRequest("fix", "main")).toBeUndefined();
  expect(new URL(asked[0]?.url ?? "").search).toMatch(new RegExp(`[?&]${state}(?:&|$)`));
  expect(Object.keys(asked[0]?.headers ?? {})).toEqual(["user-agent"]);
});

test("a server without a filter is looked through page by page, until one is empty and no further than twenty", async () => {
  const other = { html_url: "x", head: { ref: "other" }, base: { ref: "main" } };
  const pagesOf = (asked: readonly EgressRequest[]) => asked.map(({ url }) => new URL(url).searchParams.get("page"));
  const short = answering("gitea", [[other], [other], []]);
  expect(await short.api.openRequest("fix", "main")).toBeUndefined();
  expect(pagesOf(short.asked)).toEqual(["1", "2", "3"]);
  const long = answering("gitea", Array(30).fill([other]));
  expect(await long.api.openRequest("fix", "main")).toBeUndefined();
  expect(pagesOf(long.asked)).toHaveLength(20);
  const found = answering("github", [[other], [other]]);
  expect(await found.api.openRequest("fix", "main")).toBeUndefined();
  expect(pagesOf(found.asked)).toEqual(["1"]);
});
