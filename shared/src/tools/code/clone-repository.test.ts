import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pack } from "tar-stream";
import { createEgress, type Egress } from "../../egress/egress.ts";
import { AppError } from "../../errors.ts";
import { archiveAddress } from "./archive/archive-address.ts";
import { changesPatches } from "./changes-patch.ts";
import { cloneRepositoryTool } from "./clone-repository.ts";
import { type CodePlace, callIn, openCodePlace } from "./code.fixture.ts";

const forge = "https://codeload.github.com";

let place: CodePlace;
let site: Bun.Server<undefined>;
let archive: Uint8Array;
beforeAll(async () => {
  place = await openCodePlace();
  const tar = pack();
  tar.entry({ name: "app-1234abc/main.py" }, "print(1)\n");
  tar.finalize();
  const chunks: Uint8Array[] = [];
  for await (const chunk of tar) if (chunk instanceof Uint8Array) chunks.push(chunk);
  archive = Bun.gzipSync(Buffer.concat(chunks));
  site = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => answer(new URL(request.url).pathname) });
});
afterAll(async () => {
  await site.stop(true);
  await place.close();
});

function answer(path: string): Response {
  if (path === "/ann/app/tar.gz/HEAD" || path === "/ann/app/tar.gz/v1.0/x") return new Response(archive);
  if (path === "/ann/moved/tar.gz/HEAD") return Response.redirect("/ann/app/tar.gz/HEAD", 302);
  if (path === "/ann/inside/tar.gz/HEAD") return Response.redirect("https://169.254.169.254/latest", 302);
  if (path === "/ann/plain/tar.gz/HEAD") return Response.redirect("http://example.com/app.tar.gz", 302);
  if (path === "/ann/page/tar.gz/HEAD") return new Response("<html>sign in</html>");
  return new Response("", { status: 404 });
}

/** The one way out, as it is, with the forge's name leading to the server here. */
function egressHere(): Egress {
  const egress = createEgress({ allow: [site.url.host], deny: [], only: [] });
  return {
    fetch: (request) =>
      egress.fetch({
        ...request,
        url: String(request.url).replace(forge, site.url.origin),
        admit: async (url) => request.admit?.(new URL(url.href.replace(site.url.origin, forge))),
      }),
  };
}

const clone = async (input: Record<string, unknown>) => {
  const workspace = await place.project({});
  const tool = cloneRepositoryTool({ egress: egressHere(), sandbox: place.sandbox });
  return { workspace, ...(await callIn(workspace)(tool, input)) };
};

test("a repository's files come into a folder of its name, and what is changed there is a patch from that folder", async () => {
  for (const url of [
    "https://github.com/ann/app",
    "https://www.github.com/ann/app.git/",
    "https://github.com/ann/moved",
  ]) {
    const { workspace, text, isError } = await clone({ url, into: "app" });
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
  expect((await clone({ url: "https://github.com/ann/app", ref: "v1.0/x" })).text).toContain("into app/");
});

test("what leads elsewhere, is not there or is no archive is refused, and leaves nothing", async () => {
  const refused: Record<string, string> = {
    "https://github.com/ann/inside": "not public",
    "https://github.com/ann/plain": "not https",
    "https://github.com/ann/gone": "no such repository or ref",
    "https://github.com/ann/page": "no archive",
    "https://10.0.0.1/app.tar.gz": "not public",
    "https://localhost/app.zip": "not public",
  };
  for (const [url, why] of Object.entries(refused)) {
    const { workspace, text, isError } = await clone({ url });
    expect({ url, isError, text }).toMatchObject({ isError: true, text: expect.stringContaining(why) });
    expect(await readdir(workspace.root)).toEqual([]);
  }
  expect((await clone({ url: "https://github.com/ann/app", ref: "../../x" })).text).toContain(
    "must be the name of a branch",
  );
});

test("the addresses of archives are those of their hosts", () => {
  const urls = (address: string, ref?: string) => archiveAddress(address, ref).url;
  expect(urls("https://github.com/a/b")).toBe("https://codeload.github.com/a/b/tar.gz/HEAD");
  expect(urls("https://gitlab.com/g/sub/b", "feat/x")).toBe(
    "https://gitlab.com/g/sub/b/-/archive/feat/x/b-feat-x.tar.gz",
  );
  expect(urls("https://bitbucket.org/a/b.git", "v1")).toBe("https://bitbucket.org/a/b/get/v1.tar.gz");
  expect(urls("https://codeberg.org/a/b")).toBe("https://codeberg.org/a/b/archive/HEAD.tar.gz");
  expect(archiveAddress("https://example.com/x/b-1.2.tar.gz?x=1")).toEqual({
    url: "https://example.com/x/b-1.2.tar.gz?x=1",
    name: "b-1.2",
  });
  for (const bad of [
    "http://github.com/a/b",
    "git@github.com:a/b.git",
    "file:///etc",
    "https://github.com/a",
    "https://github.com/a/../b",
    "https://github.com/a/b/tree/main",
    "https://example.com/a/b",
    "ssh://github.com/a/b",
  ])
    expect(() => archiveAddress(bad), bad).toThrow(AppError);
});

test.if(Bun.which("openssl") !== null)("a certificate that nobody vouches for is refused", async () => {
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
    const tool = cloneRepositoryTool({ egress, sandbox: place.sandbox });
    const { text } = await callIn(workspace)(tool, { url: `${secure.url.origin}/app.tgz` });
    expect(text).toContain("self signed certificate");
  } finally {
    await secure.stop(true);
    await rm(folder, { recursive: true });
  }
});
