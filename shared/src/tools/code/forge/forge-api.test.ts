import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { AppError } from "../../../core/errors.ts";
import { createEgress } from "../../../machine/egress/egress.ts";
import { type ForgeServer, startForgeServer } from "../../../testing/code/forge-server.ts";
import { type ForgeApi, forgeApi } from "./forge-api.ts";
import { createGitHosts } from "./git-host.ts";

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
