import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pack } from "tar-stream";
import { AppError } from "../../core/errors.ts";
import type { Workspace } from "../../core/workspace.ts";
import { createEgress, type PolicedEgress } from "../../machine/egress/egress.ts";
import { runCommand } from "../../machine/sandbox/run-command.ts";
import type { Sandbox } from "../../machine/sandbox/sandbox.ts";
import { type CodePlace, callIn, openCodePlace } from "../../testing/code/code-place.ts";
import { type GitServer, startGitServer } from "../../testing/code/git-server.ts";
import { sourceAddress } from "./archive/download-archive.ts";
import { changesPatches } from "./checkpoints/changes-patch.ts";
import { cloneRepositoryTool } from "./clone-repository.ts";
import { noGitHosts } from "./git-host.ts";

/** The tests' address, which leads to a local server. */
const host = "https://git.example";

let place: CodePlace;
let git: GitServer;
let archive: Uint8Array;
beforeAll(async () => {
  place = await openCodePlace();
  const tar = pack();
  tar.entry({ name: "app-1234abc/main.py" }, "print(1)\n");
  tar.finalize();
  const chunks: Uint8Array[] = [];
  for await (const chunk of tar) if (chunk instanceof Uint8Array) chunks.push(chunk);
  archive = Bun.gzipSync(Buffer.concat(chunks));
  git = await startGitServer(answer);
  await git.make("ann/app", commits);
});
afterAll(async () => {
  await git.close();
  await place.close();
});

const commits = `
echo 'print(1)' > main.py; printf 'main.py export-ignore\\n' > .gitattributes; git add . && git commit -qm one && git tag v1 && git tag @ann/app@1.0+b#7
mkdir -p bin; printf '#!/bin/sh\\n' > bin/run; chmod +x bin/run; ln -s main.py link.py; git add . && git commit -qm two && git tag -am 'second' v2
git checkout -qb feat/x && echo 'print(3)' > main.py && git commit -qam three && git checkout -q main
echo 'print(4)' > main.py; git commit -qam four`;

/** What the server keeps by Git LFS, by hash, and what was asked for. */
const large = new Map<string, { readonly content: string; readonly href?: string }>();
const asked: { readonly path: string; readonly authorization: string | null; readonly marked: string | null }[] = [];

async function lfsAnswer({ pathname }: URL, request: Request): Promise<Response | undefined> {
  const { headers } = request;
  asked.push({ path: pathname, authorization: headers.get("authorization"), marked: headers.get("x-object") });
  if (pathname.startsWith("/lfs/")) return new Response(large.get(pathname.slice(5))?.content ?? "");
  if (request.method !== "POST") return undefined;
  const { objects } = (await request.json()) as { objects: readonly { oid: string; size: number }[] };
  return Response.json({
    transfer: "basic",
    objects: objects.map(({ oid, size }) => {
      const known = large.get(oid);
      if (known === undefined) return { oid, size, error: { code: 404, message: "Object does not exist" } };
      const href = known.href ?? `${host}/lfs/${oid}`;
      return { oid, size, actions: { download: { href, header: { "X-Object": oid, Host: "evil.example" } } } };
    }),
  });
}

function answer(url: URL, request: Request): Response | undefined | Promise<Response | undefined> {
  const { pathname } = url;
  if (pathname.startsWith("/lfs/") || pathname.endsWith("/info/lfs/objects/batch")) return lfsAnswer(url, request);
  if (["/ann/app.tar.gz", "/ann/app/tar.gz/HEAD"].includes(pathname)) return new Response(archive);
  if (pathname === "/ann/moved.tar.gz") return Response.redirect("/ann/app.tar.gz", 302);
  if (pathname === "/ann/inside.tar.gz") return Response.redirect("https://169.254.169.254/latest", 302);
  if (pathname === "/ann/plain.tar.gz") return Response.redirect("http://example.com/app.tar.gz", 302);
  if (pathname === "/ann/page.tar.gz" || pathname.startsWith("/ann/page/")) return new Response("<html>sign in</html>");
  if (pathname === "/ann/moved/info/refs")
    return Response.redirect("/ann/app.git/info/refs?service=git-upload-pack", 301);
  if (pathname === "/ann/inside/info/refs") return Response.redirect("https://169.254.169.254/latest", 302);
  if (pathname === "/ann/plain/info/refs")
    return Response.redirect("http://example.com/app.git/info/refs?service=git-upload-pack", 302);
  return undefined;
}

/**
 * The real egress, with the names of the host (and of its archives) leading to the local server.
 */
function egressHere(): PolicedEgress {
  const { origin } = git.server.url;
  const egress = createEgress({ allow: [git.server.url.host], deny: [], only: [] });
  const named = (url: URL) => new URL(url.href.replace(origin, host));
  return {
    ...egress,
    async fetch(request) {
      const url = String(request.url).replace(/^https:\/\/(git\.example|codeload\.github\.com)(?=\/)/, origin);
      const response = await egress.fetch({ ...request, url, admit: async (hop) => request.admit?.(named(hop)) });
      return { ...response, url: named(response.url) };
    },
  };
}

const clone = async (input: Record<string, unknown>, sandbox = place.sandbox) => {
  const workspace = await place.project({});
  const result = await callIn(workspace)(
    cloneRepositoryTool({ egress: egressHere(), sandbox, hosts: noGitHosts }),
    input,
  );
  return { workspace, ...result };
};

/** The output of a command that the sandbox runs in the workspace. */
async function inside(workspace: Workspace, command: string): Promise<string> {
  const argv = ["bash", "-c", `exec 2>&1; ${command}`];
  const { signal } = new AbortController();
  return (await runCommand(place.sandbox, { argv, workspace: workspace.root }, { signal })).stdout.trim();
}

const hasGit = Bun.which("git") !== null;

test.if(hasGit)(
  "a repository is cloned with its files unchanged and its newest commits, and git works in it",
  async () => {
    const { workspace, text, isError } = await clone({ url: `${host}/ann/app`, into: "app", depth: 2 });
    expect({ text, isError }).toMatchObject({ isError: false, text: expect.stringContaining("into app/") });
    expect(text).toContain(`It is ${host}/ann/app at main, `);
    expect(text).toContain("the last 2 commits of its history");
    expect(
      await inside(workspace, "cd app; git status --short --branch; git log --format=%s; git remote get-url origin"),
    ).toBe(`## main...origin/main\nfour\ntwo\n${host}/ann/app`);
    expect(await inside(workspace, "cd app; ls -A; cat link.py; test -x bin/run && echo runs; ls .git/hooks")).toBe(
      ".git\n.gitattributes\nbin\nlink.py\nmain.py\nprint(4)\nruns\nls: cannot access '.git/hooks': No such file or directory",
    );
    expect(await readdir(join(workspace.metaRoot, "staging"))).toEqual([]);
  },
);

test.if(hasGit)(
  "changes in a clone become a patch from its folder, without git's own files, committed or not",
  async () => {
    const { workspace } = await clone({ url: `${host}/ann/app` });
    await inside(
      workspace,
      "cd app; echo 'print(2)' > main.py; git config user.name a; git -c user.email=a@b commit -qam mine; rm bin/run",
    );
    const [changes, ...others] = await changesPatches(workspace);
    expect(others).toEqual([]);
    expect(changes?.patch).toContain("--- a/main.py");
    expect(changes?.patch).toContain("--- a/bin/run");
    expect(changes?.patch).not.toContain(".git/");
  },
);

test.if(hasGit)("a branch, a tag or a commit can be checked out", async () => {
  const at = async (input: Record<string, unknown>) => {
    const { workspace, text } = await clone({ url: `${host}/ann/app.git`, ...input });
    return { text, head: await inside(workspace, "cd app; git log -1 --format=%s; git branch --show-current") };
  };
  expect((await at({ ref: "feat/x" })).head).toBe("three\nfeat/x");
  expect((await at({ ref: "v1" })).head).toBe("one");
  expect((await at({ ref: "@ann/app@1.0+b#7" })).head).toBe("one");
  const { head, text } = await at({ ref: "v2" });
  expect(head).toBe("two");
  const { workspace } = await clone({ url: `${host}/ann/app` });
  const commit = await inside(workspace, "cd app; git rev-parse HEAD~1");
  expect((await at({ ref: commit })).head).toBe("two");
  expect(text).toContain("its whole history");
  expect((await at({ ref: "v9" })).text).toContain("no branch or tag v9");
  expect((await at({ ref: "a".repeat(40) })).text).toContain("The server says");
});

test.if(hasGit)("a moved repository is followed, and later requests go to its new address", async () => {
  const before = git.asked.length;
  expect((await clone({ url: `${host}/ann/moved` })).text).toContain("into moved/");
  expect(git.asked.slice(before)).toEqual([
    "/ann/moved/info/refs",
    "/ann/app.git/info/refs",
    "/ann/app.git/git-upload-pack",
    "/ann/app.git/git-upload-pack",
  ]);
});

test.if(hasGit)("links in a repository that lead outside are left out, and the result says so", async () => {
  await git.make(
    "odd/links",
    "ln -s /etc/passwd out; ln -s ../../up up; echo a > a; ln -s a in; git add . && git commit -qm x",
  );
  const { workspace, text } = await clone({ url: `${host}/odd/links` });
  expect(text).toContain("Left out (git hooks, links that lead nowhere or outside):");
  expect(text).toContain("\n- links/out\n- links/up\n</archive-content>");
  expect(await inside(workspace, "cd links; git status --short; cat in")).toBe("D out\n D up\na");
});

test.if(hasGit)(
  "submodules and files of Git LFS are named as missing, and a submodule can be cloned into its place",
  async () => {
    await git.make(
      "ann/parts",
      `printf '[submodule "lib"]\\n\\tpath = vendor/lib\\n\\turl = ${host}/ann/app\\n' > .gitmodules
echo '*.bin filter=lfs diff=lfs merge=lfs -text' > .gitattributes
printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%064d\\nsize 5\\n' 1 > big.bin
git update-index --add --cacheinfo "160000,$(git -C ../ann/app.git rev-parse v1),vendor/lib"
git add .gitmodules .gitattributes big.bin && git commit -qm parts`,
    );
    const { workspace, text } = await clone({ url: `${host}/ann/parts` });
    const commit = /vendor\/lib is commit ([0-9a-f]{40}) of https:\/\/git\.example\/ann\/app/.exec(text)?.[1] ?? "";
    expect(text).toContain(
      "these hold a pointer instead of their content, and must not be changed or committed: big.bin",
    );
    const tool = cloneRepositoryTool({ egress: egressHere(), sandbox: place.sandbox, hosts: noGitHosts });
    const input = { url: `${host}/ann/app`, ref: commit, into: "parts/vendor/lib" };
    const submodule = await callIn(workspace)(tool, input);
    expect(submodule.text).toContain("into parts/vendor/lib/");
    expect(await inside(workspace, "cd parts; cat vendor/lib/main.py; git status --short; git submodule status")).toBe(
      `print(1)\n-${commit} vendor/lib`,
    );
  },
);

test.if(hasGit)(
  "files of Git LFS come with the content that their pointers name, and git takes no notice of it",
  async () => {
    const oidOf = (content: string) => new Bun.CryptoHasher("sha256").update(content).digest("hex");
    const [model, wrong, inside_, gone] = ["weights ".repeat(1_000), "as it should be", "secrets", "gone"];
    large.set(oidOf(model), { content: model });
    large.set(oidOf(wrong), { content: "something else!" });
    large.set(oidOf(inside_), { content: inside_, href: "https://169.254.169.254/latest" });
    const pointerTo = (name: string, content: string) =>
      `printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:${oidOf(content)}\\nsize ${content.length}\\n' > ${name}`;
    await git.make(
      "ann/assets",
      `echo '*.bin filter=lfs diff=lfs merge=lfs -text' > .gitattributes; mkdir deep
${pointerTo("deep/model.bin", model)}; ${pointerTo("wrong.bin", wrong)}; ${pointerTo("inside.bin", inside_)}; ${pointerTo("gone.bin", gone)}
echo 'print(1)' > main.py; git add . && git commit -qm large`,
    );
    asked.length = 0;
    const { workspace, text, isError } = await clone({ url: `${host}/ann/assets` });
    expect({ text, isError }).toMatchObject({ isError: false });
    expect(await inside(workspace, "cd assets; sha256sum < deep/model.bin; wc -c < wrong.bin")).toStartWith(
      oidOf(model),
    );
    expect(text).toContain("git takes no notice of them, and they cannot be committed: deep/model.bin");
    expect(text).toMatch(/hold a pointer instead of their content.*gone\.bin \(Object does not exist\)/);
    expect(text).toMatch(/wrong\.bin \(what came is not what the pointer says\)/);
    expect(text).toMatch(/inside\.bin \([^)]*169\.254\.169\.254/);
    // Neither by a commit nor by a look is the content taken for a change.
    const said = await inside(
      workspace,
      "cd assets; git status --short; git -c user.name=a -c user.email=a@example.com commit -am all; git log --format=%s",
    );
    expect(said).toMatch(/^On branch main[\s\S]*nothing to commit[\s\S]*\nlarge$/);
    expect(await inside(workspace, "cd assets; git show HEAD:deep/model.bin | head -1")).toBe(
      "version https://git-lfs.github.com/spec/v1",
    );
    expect(await changesPatches(workspace)).toEqual([]);
    expect(asked.find(({ path }) => path === `/lfs/${oidOf(model)}`)).toEqual({
      path: `/lfs/${oidOf(model)}`,
      authorization: null,
      marked: oidOf(model),
    });
  },
);

test.if(hasGit)("a malicious repository is refused before it is written, and nothing is left of it", async () => {
  for (const [name, commands] of Object.entries(bombs)) {
    await git.make(`bad/${name}`, commands);
    const { workspace, text, isError } = await clone({ url: `${host}/bad/${name}` });
    expect({ name, text, isError }).toEqual({
      name,
      isError: true,
      text: expect.stringMatching(/what can be checked out/),
    });
    expect(await readdir(workspace.root)).toEqual([]);
    expect(await readdir(join(workspace.metaRoot, "staging"))).toEqual([]);
  }
});

const tens = (mode: string, object: string) =>
  `$(for n in 0 1 2 3 4 5 6 7 8 9; do printf '${mode} %s\\tn%s\\n' ${object} $n; done | git mktree)`;
const deep = (levels: string) =>
  `for level in ${levels}; do tree=${tens("040000 tree", "$tree")}; done; git update-ref refs/heads/main $(git commit-tree $tree -m x)`;

/** Too many files, and too many bytes in few files: each in a handful of objects. */
const bombs = {
  files: `blob=$(git hash-object -w --stdin < /dev/null); tree=${tens("100644 blob", "$blob")}; ${deep("1 2 3 4")}`,
  bytes: `head -c 6000000 /dev/zero > x; blob=$(git hash-object -w x); tree=${tens("100644 blob", "$blob")}; ${deep("1")}`,
};

test.if(hasGit)("a repository of many megabytes is cloned", async () => {
  await git.make("ann/large", "head -c 6000000 /dev/urandom > data; git add . && git commit -qm x");
  const { workspace, text } = await clone({ url: `${host}/ann/large` });
  expect(text).toContain("into large/");
  expect(Bun.file(join(workspace.root, "large/data")).size).toBe(6_000_000);
});

test("an archive's files go into a folder of its name, and changes there become a patch from that folder", async () => {
  const none: Sandbox = { ...place.sandbox, tier: "none" };
  for (const [url, sandbox] of [
    [`${host}/ann/app.tar.gz`, place.sandbox],
    [`${host}/ann/moved.tar.gz`, place.sandbox],
    ["https://www.github.com/ann/app.git/", none],
  ] as const) {
    const { workspace, text, isError } = await clone({ url, into: "app" }, sandbox);
    expect({ text, isError }).toMatchObject({
      isError: false,
      text: expect.stringContaining("Unpacked 1 file (9 bytes) into app/"),
    });
    expect(text).toContain("without history");
    await Bun.write(join(workspace.root, "app/main.py"), "print(2)\n");
    const [changes] = await changesPatches(workspace);
    expect(changes?.patch).toContain("--- a/main.py");
    expect(await readdir(join(workspace.metaRoot, "staging"))).toEqual([]);
  }
  expect((await clone({ url: `${host}/ann/app` }, none)).text).toContain("git is not installed");
});

test("an address that redirects elsewhere, is missing or is not an archive is refused, and leaves nothing", async () => {
  const refused: Record<string, string> = {
    [`${host}/ann/inside`]: "not public",
    [`${host}/ann/inside.tar.gz`]: "not public",
    [`${host}/ann/plain`]: "not https",
    [`${host}/ann/plain.tar.gz`]: "not https",
    [`${host}/ann/gone`]: "no public repository",
    [`${host}/ann/gone.tar.gz`]: "no such repository or ref",
    [`${host}/ann/page`]: "no public repository",
    [`${host}/ann/page.tar.gz`]: "not an archive",
    "https://10.0.0.1/app.tar.gz": "not public",
    "https://localhost/app.zip": "not public",
    "https://localhost/ann/app": "not public",
  };
  for (const [url, why] of Object.entries(refused)) {
    const { workspace, text, isError } = await clone({ url });
    expect({ url, isError, text }).toMatchObject({ isError: true, text: expect.stringContaining(why) });
    expect(await readdir(workspace.root)).toEqual([]);
  }
  expect((await clone({ url: `${host}/ann/app`, ref: "../../x" })).text).toContain("must be the name of a branch");
});

test("an address names an archive or a repository", () => {
  const archiveOf = (address: string, ref = "HEAD") => {
    const source = sourceAddress(address);
    return source.kind === "archive" ? source.url : source.archive?.(ref);
  };
  expect(archiveOf("https://github.com/a/b")).toBe("https://codeload.github.com/a/b/tar.gz/HEAD");
  expect(archiveOf("https://gitlab.com/g/sub/b", "feat/x")).toBe(
    "https://gitlab.com/g/sub/b/-/archive/feat/x/b-feat-x.tar.gz",
  );
  expect(archiveOf("https://github.com/a/b", "fix/#7")).toBe("https://codeload.github.com/a/b/tar.gz/fix/%237");
  expect(archiveOf("https://bitbucket.org/a/b.git", "v1")).toBe("https://bitbucket.org/a/b/get/v1.tar.gz");
  expect(archiveOf("https://codeberg.org/a/b")).toBe("https://codeberg.org/a/b/archive/HEAD.tar.gz");
  expect(sourceAddress("https://example.com/x/b-1.2.tar.gz?x=1")).toEqual({
    kind: "archive",
    url: "https://example.com/x/b-1.2.tar.gz?x=1",
    name: "b-1.2",
  });
  expect(sourceAddress("https://git.example.com/~ann/b.git")).toEqual({
    kind: "repository",
    url: "https://git.example.com/~ann/b.git",
    name: "b",
    archive: undefined,
  });
  for (const bad of [
    "http://github.com/a/b",
    "git@github.com:a/b.git",
    "file:///etc",
    "https://github.com/a",
    "https://github.com/a/../b",
    "https://github.com/a/b/tree/main",
    "https://example.com/",
    "https://example.com/a?b=c",
    "ssh://github.com/a/b",
  ])
    expect(() => sourceAddress(bad), bad).toThrow(AppError);
});

test.if(Bun.which("openssl") !== null)("an untrusted certificate is refused", async () => {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-tls-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  Bun.spawnSync([
    "openssl",
    "req",
    "-x509",
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-keyout",
    key,
    "-out",
    cert,
    "-days",
    "2",
    ...subject,
  ]);
  const secure = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: { key: Bun.file(key), cert: Bun.file(cert) },
    fetch: () => new Response(archive),
  });
  try {
    const workspace = await place.project({});
    const egress = createEgress({ allow: [secure.url.host], deny: [], only: [] });
    const tool = cloneRepositoryTool({ egress, sandbox: place.sandbox, hosts: noGitHosts });
    const { text } = await callIn(workspace)(tool, { url: `${secure.url.origin}/app.tgz` });
    expect(text).toContain("self signed certificate");
  } finally {
    await secure.stop(true);
    await rm(folder, { recursive: true });
  }
});
