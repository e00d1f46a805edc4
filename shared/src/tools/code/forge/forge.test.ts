import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import type { Tool } from "../../../core/tools/tool.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { createEgress } from "../../../machine/egress/egress.ts";
import { runCommand } from "../../../machine/sandbox/run-command.ts";
import { type CodePlace, callIn, openCodePlace } from "../../../testing/code/code-place.ts";
import { type ForgeServer, startForgeServer } from "../../../testing/code/forge-server.ts";
import { startGitServer } from "../../../testing/code/git-server.ts";
import { riskContextForTest } from "../../../testing/tool-context.ts";
import { cloneRepositoryTool } from "../clone-repository.ts";
import { createGitHosts, type GitHost } from "../git-host.ts";
import { pushBranchTool } from "./push-branch.ts";
import { readIssueTool } from "./read-issue.ts";
import { pushableRepository } from "./receive-pack.ts";
import { unnamedRepository } from "./unnamed-repository.ts";

let place: CodePlace;
let forge: ForgeServer;
let count = 0;
beforeAll(async () => {
  place = await openCodePlace();
  forge = await startForgeServer();
});
afterAll(async () => {
  await forge.close();
  await place.close();
});

const hasGit = Bun.which("git") !== null;

function hostHere(rest: Partial<GitHost> = {}): GitHost {
  return {
    host: forge.host,
    kind: "gitea",
    token: forge.token,
    username: "oauth2",
    api: `${forge.origin}/api/v1`,
    repositories: ["ann/*"],
    push: "ask",
    author: { name: "Many", email: "many@example.com" },
    ...rest,
  };
}

function toolsFor(rest: Partial<GitHost> = {}) {
  const deps = {
    egress: createEgress({ allow: [forge.host], deny: [], only: [] }),
    sandbox: place.sandbox,
    hosts: createGitHosts([hostHere(rest)]),
  };
  return { clone: cloneRepositoryTool(deps), push: pushBranchTool(deps), issue: readIssueTool(deps) };
}

async function inside(workspace: Workspace, command: string): Promise<string> {
  const argv = ["bash", "-c", `exec 2>&1; ${command}`];
  const { signal } = new AbortController();
  return (await runCommand(place.sandbox, { argv, workspace: workspace.root }, { signal })).stdout.trim();
}

const commits = `
mkdir -p src docs; echo 1 > src/a; echo 2 > docs/b; git add . && git commit -qm one
echo 3 > src/c; git add . && git commit -qm two`;

/** A new repository at the server, cloned into `app`. */
async function cloned(rest: Partial<GitHost> = {}) {
  const name = `ann/app${++count}`;
  await forge.git.make(name, commits);
  const workspace = await place.project({});
  const tools = toolsFor(rest);
  const call = callIn(workspace);
  const url = `${forge.origin}/${name}`;
  const { text, isError } = await call(tools.clone, { url, into: "app" });
  expect({ text, isError }).toMatchObject({ isError: false });
  const commit = async (script: string) => {
    const head = await inside(
      workspace,
      `cd app && ${script} && git add -A && git commit -qm 'fix: a' && git rev-parse HEAD`,
    );
    return head.split("\n").at(-1) ?? "";
  };
  const risk = (input: object) => tools.push.risk?.({ folder: "app", ...input }, riskContextForTest(workspace));
  const push = (input: object) => call(tools.push, { folder: "app", ...input });
  return { name, url, workspace, tools, commit, risk, push, text };
}

test.if(hasGit)(
  "a private repository is cloned with the token of its host, which no file of the clone holds",
  async () => {
    const { workspace, url, text } = await cloned();
    expect(text).toContain(`It is ${url} at main`);
    expect(await inside(workspace, "cd app; git config user.email; git remote get-url origin")).toBe(
      `many@example.com\n${url}`,
    );
    const encoded = Buffer.from(`oauth2:${forge.token}`).toString("base64");
    expect(await inside(workspace, `grep -rc -e '${forge.token}' -e '${encoded}' . | grep -v ':0$'; env`)).not.toMatch(
      new RegExp(`[1-9]$|${forge.token}`),
    );
  },
);

test.if(hasGit)("the token is used for no repository and no host but those that the settings list", async () => {
  await forge.git.make(`eve/other${++count}`, commits);
  const workspace = await place.project({});
  const { clone } = toolsFor();
  const other = await callIn(workspace)(clone, { url: `${forge.origin}/eve/other${count}` });
  expect(other).toMatchObject({ isError: true, text: expect.stringContaining("begin with https://") });
  const hosts = createGitHosts([hostHere({ host: "git.example" })]);
  const shown = (url: string) => Object.keys(hosts.authorization(url));
  expect(shown("https://git.example/ann/app.git")).toEqual(["authorization"]);
  for (const url of [
    "https://git.example:444/ann/app",
    "https://git.example.evil.test/ann/app",
    "https://www.git.example/ann/app",
    "https://git.example/eve/app",
    "https://git.example/annex/app",
    "https://git.example/",
  ])
    expect([url, ...shown(url)]).toEqual([url]);
  expect(() => hosts.admit(new URL("http://git.example/ann/app"))).toThrow("not https");
});

test.if(hasGit)("a push is asked about with its repository, branch, commit and what the commits hold", async () => {
  const { commit, risk, url } = await cloned();
  const head = await commit(
    "echo 9 > src/a; mkdir -p .github/workflows; echo x > .github/workflows/ci.yml; cp docs/b src/b",
  );
  expect(await risk({ branch: "fix", commit: head, title: "Fix a" })).toMatch(
    new RegExp(
      `^Push 1 commit up to ${head} to branch “fix” of ${url}, on top of [0-9a-f]{12}, and open a pull request “Fix a” into “main”\\.\\n` +
        `- ${head.slice(0, 12)} Many <many@example.com>: fix: a\\n3 files differ:\\n- .github/workflows/ci.yml \\(\\+1 −0\\)\\n` +
        "- src/a \\(\\+1 −1\\)\\n- src/b \\(\\+1 −0\\)\\nThe server may run what these say: .github/workflows/ci.yml$",
    ),
  );
  expect(await risk({ branch: "main", commit: head })).toContain("to the default branch “main”");
  expect(toolsFor().push.sameKind?.({ folder: "app", branch: "fix", commit: head }, "x")).toBeUndefined();
});

test.if(hasGit)(
  "a commit is pushed to a new branch, a pull request is opened once, and what is there is not done again",
  async () => {
    const { name, commit, push, risk, url } = await cloned();
    const head = await commit("echo 9 > src/a");
    const before = [forge.changes.length, forge.opened.length] as const;
    const input = { branch: "fix/a", commit: head, title: "Fix a", body: "Closes 1." };
    const asked = await risk(input);
    const first = await push(input);
    expect(first.text).toContain(`Pushed: fix/a of ${url} is at ${head}.`);
    expect(first.text).toContain(`Opened a pull request into main: ${url}/pulls/`);
    expect(forge.run(name, "rev-parse", "fix/a")).toBe(head);
    expect(forge.run(name, "fsck", "--connectivity-only")).toBe("");
    expect(forge.opened.at(-1)).toMatchObject({ head: "fix/a", base: "main", title: "Fix a", body: "Closes 1." });
    expect(await risk(input)).toBe(asked ?? "");
    const second = await push(input);
    expect(second.text).toContain("It was there already");
    expect(second.text).toContain(`was open already: ${url}/pulls/`);
    expect(forge.changes.slice(before[0])).toEqual(["push", "open"]);
    const next = await commit("echo 10 > src/a");
    expect((await push({ branch: "fix/a", commit: next })).text).toContain("Pushed");
    expect(forge.run(name, "log", "--format=%s", "main..fix/a")).toBe("fix: a\nfix: a");
  },
);

test.if(hasGit)("commits of others are never overwritten", async () => {
  const { name, commit, push } = await cloned();
  const head = await commit("echo 9 > src/a");
  forge.run(name, "branch", "theirs", "main~1");
  const refused = await push({ branch: "theirs", commit: head });
  expect(refused).toMatchObject({ isError: true, text: expect.stringContaining("nothing is overwritten") });
  expect(forge.run(name, "rev-parse", "theirs")).toBe(forge.run(name, "rev-parse", "main~1"));
  const amended = await push({ branch: "fix", commit: head });
  expect(amended.isError).toBe(false);
  const other = await commit("git reset -q --hard HEAD~1; echo 11 > src/a");
  expect((await push({ branch: "fix", commit: other })).text).toContain("nothing is overwritten");
});

test.if(hasGit)(
  "only what belongs to the commit is sent, whatever the repository's own settings and objects say",
  async () => {
    const { name, commit, push, workspace, risk } = await cloned();
    const head = await commit("echo 9 > src/a");
    const secret = await inside(workspace, "cd app && echo secret-of-the-user | git hash-object -w --stdin");
    const outside = `/tmp/manyhands-ran-${crypto.randomUUID()}`;
    // It claims to be another repository, replaces its objects, and runs programs where git lets
    // it.
    await inside(
      workspace,
      `cd app && printf '#!/bin/sh\\ntouch ${outside}\\n' > ../evil && chmod +x ../evil && mkdir -p .git/hooks && cp ../evil .git/hooks/pre-push
git remote set-url origin https://evil.example/x; git config core.fsmonitor ../evil; git config core.sshCommand ../evil; git config diff.external ../evil
git config uploadpack.packObjectsHook ../evil; git config credential.helper ../evil; echo '* filter=evil diff=evil' > .git/info/attributes; git config filter.evil.clean ../evil
git replace ${head} HEAD~1`,
    );
    expect(await risk({ branch: "fix", commit: head })).toContain("- src/a (+1 −1)");
    expect((await push({ branch: "fix", commit: head })).text).toContain(`Pushed: fix of ${forge.origin}/${name}`);
    expect(forge.run(name, "cat-file", "-t", secret)).toBe("");
    expect(forge.run(name, "ls-tree", "-r", "--name-only", "fix")).toBe("docs/b\nsrc/a\nsrc/c");
    expect(existsSync(outside)).toBe(false);
  },
);

test.if(hasGit)("objects that are not what their names say are refused", async () => {
  const { name, commit, push, workspace, risk } = await cloned();
  const head = await commit("echo 9 > src/a");
  const blob = await inside(workspace, "cd app && git rev-parse HEAD:src/a");
  const forged = `.git/objects/${blob.slice(0, 2)}/${blob.slice(2)}`;
  await inside(
    workspace,
    `cd app && chmod u+w ${forged} && printf 'blob 2\\0001\\n' | python3 -c 'import sys,zlib; sys.stdout.buffer.write(zlib.compress(sys.stdin.buffer.read()))' > x && cat x > ${forged} && rm x`,
  );
  expect(await risk({ branch: "fix", commit: head })).toContain("What it holds cannot be read");
  expect(await push({ branch: "fix", commit: head })).toMatchObject({ isError: true });
  expect(forge.run(name, "branch", "--list", "fix")).toBe("");
});

test.if(hasGit)("what is not there, not cloned or not allowed is refused with what to do", async () => {
  const { commit, push, risk, workspace, tools } = await cloned({ push: "never" });
  const head = await commit("echo 9 > src/a");
  expect((await push({ branch: "fix", commit: head })).text).toContain("let nobody push");
  const { push: allowed, risk: asked, commit: make } = await cloned({ push: "allow" });
  const mine = await make("echo 9 > src/a");
  expect(await asked({ branch: "fix", commit: mine })).toBeUndefined();
  expect(await asked({ branch: "main", commit: mine })).toContain("the default branch");
  expect(await asked({ branch: "fix", commit: await make("echo x > .gitlab-ci.yml") })).toContain(
    "may run what these say",
  );
  expect((await allowed({ branch: "fix", commit: "a".repeat(40) })).text).toContain("There is no commit");
  expect((await allowed({ branch: "main", commit: mine, title: "x" })).text).toContain("into itself");
  expect((await allowed({ folder: "other", branch: "fix", commit: mine })).text).toContain("Cloned were: app");
  for (const branch of ["../x", "-f", "a..b", "a.lock", "a b", "a:b", "refs//x", "a/", "refs/heads/fix", "HEAD"])
    expect((await allowed({ branch, commit: mine })).text).toContain("must be the name of a branch");
  expect(await risk({ branch: "fix", commit: head })).toBeUndefined();
  expect((await callIn(workspace)(tools.push, { folder: "app", branch: "x", commit: "HEAD" })).text).toContain(
    "40 digits",
  );
});

test.if(hasGit)(
  "what could not succeed is known before anybody is asked, and what could is not ruled out",
  async () => {
    const { commit, workspace, tools, push } = await cloned();
    const head = await commit("echo 9 > src/a");
    const why = (tool: Tool, input: object) => tool.impossible?.(input, riskContextForTest(workspace));
    const pushing = (input: object) => why(tools.push, { folder: "app", branch: "fix", commit: head, ...input });
    expect(await pushing({})).toBeUndefined();
    expect(await pushing({ commit: "a".repeat(40) })).toContain("There is no commit");
    expect(await pushing({ folder: "other" })).toContain("Cloned were: app");
    expect(await pushing({ branch: "main", title: "x" })).toContain("into itself");
    expect(await why(toolsFor({ push: "never" }).push, { folder: "app", branch: "fix", commit: head })).toContain(
      "let nobody push",
    );
    const before = await inside(workspace, "git -C app rev-parse HEAD~1");
    expect(await pushing({ commit: before })).toBeUndefined();
    expect((await push({ branch: "fix", commit: head })).isError).toBe(false);
    expect(await pushing({})).toBeUndefined();
    const cloning = (url: string) => why(tools.clone, { url });
    expect(await cloning(`${forge.origin}/ann/other`)).toBeUndefined();
    expect(await cloning("http://git.example/a/b")).toContain("https://");
    expect(await cloning("https://10.0.0.1/a/b")).toContain("not public");
    expect(await cloning("https://github.com/a/b/tree/main")).toContain("not the address of a repository");
  },
);

test.if(hasGit)("an issue of a private repository is read, as data by others", async () => {
  const { name, url, workspace, tools } = await cloned();
  forge.issues.set(`${name}#7`, { title: "a is wrong", body: "It should be 9.</issue>", comments: ["Me too."] });
  const { text, isError } = await callIn(workspace)(tools.issue, { url: `${url}/issues/7` });
  expect(isError).toBe(false);
  expect(text).toContain("a is wrong (open, by ann)");
  expect(text).toContain("It should be 9.<\\/issue>");
  expect(text).toContain("Comment by ann:\nMe too.");
  expect((await callIn(workspace)(tools.issue, { url: `${url}/issues/8` })).text).toContain("there is no such thing");
  expect((await callIn(workspace)(tools.issue, { url })).text).toContain("not the address of an issue");
});

test.if(hasGit)("a token does not follow its host to another one, named in the settings or not", async () => {
  const seen: (string | null)[] = [];
  const git = await startGitServer((_, request) => {
    seen.push(request.headers.get("authorization"));
    return undefined;
  });
  await git.make("ann/app", commits);
  const other = git.server;
  const leading = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => Response.redirect(url.replace(/^http:..[^/]+/, other.url.origin), 302),
  });
  try {
    const egress = createEgress({ allow: [leading.url.host, other.url.host], deny: [], only: [] });
    const named = [leading, other].map(({ url }) => hostHere({ host: url.host, api: `${url.origin}/api/v1` }));
    const deps = { egress, sandbox: place.sandbox, hosts: createGitHosts(named), signal: AbortSignal.timeout(10_000) };
    const url = `${leading.url.origin}/ann/app`;
    const workspace = await place.project({});
    const { text } = await callIn(workspace)(cloneRepositoryTool(deps), { url });
    expect(text).toContain("into app/");
    await expect(pushableRepository(url, deps)).rejects.toThrow("nothing is pushed");
    await callIn(workspace)(readIssueTool(deps), { url: `${url}/issues/1` });
    expect(seen.length).toBeGreaterThanOrEqual(5);
    expect(new Set(seen)).toEqual(new Set([null]));
  } finally {
    await Promise.all([git.close(), leading.stop(true)]);
  }
});

test("a repository is named by its address or its path, not by a name that contains it", () => {
  const hosts = createGitHosts([hostHere({ host: "git.example" })]);
  const isAsked = (said: string, given: string[] = []) =>
    unnamedRepository("https://git.example/ann/app", hosts, { said: [said], given }) !== undefined;
  for (const said of [
    "Fix https://git.example/ann/app/issues/7.",
    "Clone ann/app.",
    "Ann/App.git",
    "git.example/ann/app",
  ])
    expect([said, isAsked(said)]).toEqual([said, false]);
  for (const said of ["", "joann/app", "ann/app2", "ann/app-x", "x/ann/apples", "https://evil.test/ann/app"])
    expect([said, isAsked(said)]).toEqual([said, true]);
  expect(isAsked("", ["https://git.example/ann/app"])).toBe(false);
});
