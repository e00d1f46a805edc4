import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callerNamed } from "../../core/caller.ts";
import { AppError } from "../../core/errors.ts";
import { createArtifactStore } from "../../machine/workspace/artifacts/artifact-store.ts";
import { startChromium } from "../../testing/browser/lean-chromium.ts";
import { artifactApp } from "./artifact-route.ts";
import { httpJsonFailure } from "./http-json.ts";

const code = 'document.title = "ran"; globalThis.ran = true; self.postMessage?.(1);';
let folder: string;
let sha256: string;
let app: ReturnType<typeof artifactApp>;
const bugs: unknown[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "manyhands-artifact-route-"));
  const store = createArtifactStore(folder);
  ({ sha256 } = await store.put(new TextEncoder().encode(code), { name: "x" }));
  const engine = { hasFile: async (principal: string, hash: string) => principal === "somebody" && hash === sha256 };
  app = artifactApp({ artifacts: store, engine }, (request) => {
    const user = request.headers.get("X-User") ?? "somebody";
    if (user === "nobody") throw new AppError("unauthorized", "Say who you are.");
    return user === "sender" ? callerNamed("somebody", ["run"]) : callerNamed(user);
  });
  app.onError((error) => httpJsonFailure(error, (bug) => bugs.push(bug)));
});
afterAll(() => rm(folder, { recursive: true }));

const get = async (name: string, headers: Record<string, string> = {}, hash = sha256) =>
  app.request(`/artifacts/${hash}/${name}`, { headers });

test("a caller that is not admitted gets no file, even with its hash or a cached copy", async () => {
  expect((await get("x.txt", { "X-User": "nobody" })).status).toBe(401);
  expect((await get("x.txt", { "X-User": "nobody", "If-None-Match": `"${sha256}"` })).status).toBe(401);
  expect((await get("x.txt", { "X-User": "nobody" }, "0".repeat(64))).status).toBe(401);
  // Nor one that may only start tasks.
  for (const headers of [{}, { "If-None-Match": `"${sha256}"` }])
    expect((await get("x.txt", { "X-User": "sender", ...headers })).status).toBe(403);
  const own = await get("x.txt");
  // No cache between that others use keeps it.
  expect([own.status, own.headers.get("Cache-Control")]).toEqual([200, "private, max-age=31536000, immutable"]);
});

test("a hash known from elsewhere opens nothing, and says nothing about what is there", async () => {
  const missing = "0".repeat(64);
  const answers = [sha256, missing].flatMap((hash) => [
    get("x.txt", { "X-User": "another" }, hash),
    get("x.txt", { "X-User": "another", "If-None-Match": `"${hash}"` }, hash),
  ]);
  const told = await Promise.all(
    answers.map(async (answer) => answer.then(async (it) => [it.status, await it.text()])),
  );
  expect(new Set(told.map((each) => JSON.stringify(each))).size).toBe(1);
  expect(told[0]?.[0]).toBe(404);
});

test("a missing file is not found, whatever the cache says", async () => {
  const missing = "0".repeat(64);
  expect((await get("x.txt", {}, missing)).status).toBe(404);
  expect((await get("x.txt", { "If-None-Match": `"${missing}"` }, missing)).status).toBe(404);
  expect((await get("x.txt", { "If-None-Match": `"${sha256}"` })).status).toBe(304);
  for (const hash of ["..", "%2e%2e", sha256.slice(1), sha256.toUpperCase(), `${sha256}0`])
    expect((await get("x.txt", {}, hash)).status).toBe(404);
});

test("any name is accepted as a file's name, and nothing a client sends is an internal failure", async () => {
  for (const name of [
    "%00",
    "a%00b.txt",
    "%",
    "%zz",
    "%ff.txt",
    "%ED%A0%80",
    "a%0d%0ab.txt",
    "%22;x=1.html",
    "\u{1f600}.txt",
  ]) {
    const response = await get(name);
    expect([name, response.status]).toEqual([name, 200]);
    expect(response.headers.get("Content-Disposition")).toMatch(
      /^(?:inline|attachment); filename="[^"\\\r\n]*"; filename\*=UTF-8''[\w.!~%-]*$/,
    );
  }
  expect(bugs).toEqual([]);
});

test("only harmless types are displayed; all others are downloads", async () => {
  for (const name of [
    "x.js",
    "x.mjs",
    "x.cjs",
    "x.html",
    "x.htm",
    "x.xhtml",
    "x.svg",
    "x.xml",
    "x.css",
    "x.wasm",
    "x.pdf",
    "x",
    "x.unknown",
    "x.JS",
  ]) {
    const { headers } = await get(name);
    expect([name, headers.get("Content-Type")]).toEqual([name, "application/octet-stream"]);
    expect(headers.get("Content-Disposition")).toStartWith("attachment;");
  }
  for (const [name, type] of [
    ["x.txt", "text/plain"],
    ["x.json", "application/json"],
    ["x.png", "image/png"],
  ] as const) {
    const { headers } = await get(name);
    expect(headers.get("Content-Type")).toStartWith(type);
    expect(headers.get("Content-Disposition")).toStartWith("inline;");
  }
  for (const name of ["x.js", "x.txt", "x.html"]) {
    const { headers } = await get(name);
    expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect(headers.get("Content-Security-Policy")).toMatch(/default-src 'none'.*sandbox/);
    expect(headers.get("Cross-Origin-Resource-Policy")).toBe("same-site");
  }
});

describe("in a browser, on the origin of a page that trusts its own", () => {
  test("a file is never a script, module, worker, style or page, whatever its name", async () => {
    const page = "<!doctype html><title>console</title><body></body>";
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) =>
        new URL(request.url).pathname === "/"
          ? new Response(page, {
              headers: { "Content-Type": "text/html", "Content-Security-Policy": "script-src 'self'" },
            })
          : app.fetch(request),
    });
    const browser = await startChromium();
    try {
      const tab = await browser.newPage();
      await tab.goto(server.url.href);
      for (const name of ["x.js", "x.mjs", "x.txt", "x.json", "x", "x.html", "x.svg", "x.css"]) {
        const ran = await tab.evaluate(`(async () => {
          const url = "/artifacts/${sha256}/${name}";
          const load = (make) => new Promise((done) => { const it = make(); it.onload = it.onerror = () => done(); document.body.append(it); });
          for (const type of ["text/javascript", "module"])
            await load(() => Object.assign(document.createElement("script"), { src: url, type }));
          await new Promise((done) => {
            const worker = new Worker(url);
            worker.onerror = () => done();
            setTimeout(done, 200);
          });
          return globalThis.ran === true || document.title === "ran";
        })()`);
        expect([name, ran]).toEqual([name, false]);
      }
    } finally {
      await browser.close();
      await server.stop(true);
    }
  });
});
