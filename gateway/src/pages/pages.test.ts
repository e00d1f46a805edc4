import { expect, test } from "bun:test";
import { consoleFiles } from "./console-files.ts";
import { pagesApp } from "./pages.ts";

const about = { version: "1.0.0", publicUrl: 'http://a.example/"><b>' };

test("pages run only this server's scripts, in no other site's frame, and are asked for anew each time", async () => {
  const app = pagesApp([], about);
  for (const path of ["/", "/docs"]) {
    const { status, headers } = await app.request(path);
    const policy = headers.get("Content-Security-Policy")?.split("; ") ?? [];
    for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"])
      expect([path, policy]).toEqual([path, expect.arrayContaining([part])]);
    expect([status, headers.get("Cache-Control")]).toEqual([200, "no-cache"]);
  }
  const docs = await (await app.request("/docs")).text();
  expect(docs).toContain("a.example/&quot;&gt;&lt;b&gt;");
  expect(docs).not.toContain('"><b>');
}, 60_000);

test("the console offers to sign in only where that is possible", async () => {
  const page = async (signIn: boolean) => (await pagesApp([], { ...about, signIn }).request("/")).text();
  expect(await page(true)).toContain('data-sign-in="auth/sign-in"');
  expect(await page(false)).not.toContain('data-sign-in="auth/sign-in"');
}, 60_000);

test("a script is sent compressed to who takes that, and not again to who has it", async () => {
  const app = pagesApp([], about);
  const [name = "", file] = [...(await consoleFiles.get())].find(([one]) => /^[a-z][a-z0-9-]*\.js$/.test(one)) ?? [];
  const get = (headers: Record<string, string>) => app.request(`/console/${name}`, { headers });
  const plain = await get({});
  expect([plain.headers.get("Content-Encoding"), plain.headers.get("Vary")]).toEqual([null, "Accept-Encoding"]);
  expect(await plain.bytes()).toEqual(file?.bytes as Uint8Array<ArrayBuffer>);
  const packed = await get({ "Accept-Encoding": "br, gzip" });
  expect(packed.headers.get("Content-Encoding")).toBe("gzip");
  expect(Bun.gunzipSync(await packed.arrayBuffer())).toEqual(file?.bytes as Uint8Array<ArrayBuffer>);
  expect((await get({ "If-None-Match": file?.etag ?? "" })).status).toBe(304);
  expect((await get({ "If-None-Match": '"another"' })).status).toBe(200);
  expect((await app.request("/console/none.js")).status).toBe(404);
}, 60_000);

/** The directives of what a page may do; hashes of scripts are left out. */
const policyOf = async (path: string) => {
  const { headers } = await pagesApp([], about).request(path);
  const policy = headers.get("Content-Security-Policy")?.replaceAll(/'sha256-[^']*'/g, "HASH") ?? "";
  return policy.split("; ").toSorted();
};

test("a page may do exactly what it needs: the console calls this server, what agents wrote looks like itself", async () => {
  const nowhere = ["base-uri 'none'", "default-src 'none'", "form-action 'none'"];
  expect(await policyOf("/")).toEqual(
    [
      ...[...nowhere, "frame-ancestors 'none'", "connect-src 'self'", "script-src 'self'", "style-src 'self'"],
      ...["frame-src 'self' blob:", "img-src 'self' data: blob:"],
    ].toSorted(),
  );
  const framed = [...nowhere, "frame-ancestors 'self'", "img-src data:", "style-src 'unsafe-inline'"];
  expect(await policyOf("/frame")).toEqual(
    [...framed, "font-src data:", "sandbox allow-scripts", "script-src HASH"].toSorted(),
  );
  expect(await policyOf("/frame/chart")).toEqual(
    [...framed, "sandbox allow-scripts allow-downloads", "script-src HASH HASH"].toSorted(),
  );
  for (const path of ["/frame", "/frame/chart"]) {
    const { headers } = await pagesApp([], about).request(path);
    expect([headers.get("X-DNS-Prefetch-Control"), headers.get("Cache-Control")]).toEqual(["off", "no-cache"]);
  }
}, 60_000);
