import { afterAll, expect, test } from "bun:test";
import { readdir, readFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { browsersForTest, processesOf } from "../../testing/browser/browsers.ts";
import type { Browsing } from "./browser.ts";

const names: Record<string, string> = {
  "/up": "../../../etc/cron.d/x",
  "/absolute": "/etc/passwd",
  "/long": `${"n".repeat(400)}.txt`,
  "/hidden": ".bashrc",
  "/plain": "report.csv",
};
const site = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  async fetch(request) {
    const { pathname } = new URL(request.url);
    const name = names[pathname];
    if (name !== undefined) return attachment(`content of ${pathname}`, name);
    if (pathname === "/endless") return attachment(trickle(new Uint8Array(200_000), 10), "endless.bin");
    if (pathname === "/slow") return attachment(trickle(new Uint8Array(2_000), 50), "slow.bin");
    if (pathname === "/cookie") return new Response(request.headers.get("cookie") ?? "none", { headers: cookie });
    return new Response("<a href='/plain'>get</a>", { headers: { "content-type": "text/html" } });
  },
});
/** Announces ten gigabytes, which Bun's own server would not do. */
const huge = createServer((socket) => {
  const head =
    "HTTP/1.1 200 OK\r\ncontent-length: 10000000000\r\ncontent-type: application/octet-stream\r\ncontent-disposition: attachment; filename=huge.bin\r\n\r\n";
  socket.once("data", () => socket.write(`${head}${"x".repeat(5_000)}`)).on("error", () => socket.destroy());
});
await new Promise<void>((done) => huge.listen(0, "127.0.0.1", done));
const hugeHost = `127.0.0.1:${(huge.address() as AddressInfo).port}`;
const cookie = { "set-cookie": "who=me; Max-Age=1000", "content-type": "text/html" };
const base = `http://127.0.0.1:${site.port}`;
const lab = await browsersForTest([`127.0.0.1:${site.port}`, hugeHost], {
  downloadBytes: 1_000_000,
  downloadMs: 1_500,
  contexts: 2,
});
afterAll(async () => {
  await lab[Symbol.asyncDispose]();
  await site.stop(true);
  huge.close();
});

function attachment(body: string | ReadableStream, name: string, headers: Record<string, string> = {}): Response {
  const disposition = `attachment; filename="${name}"`;
  return new Response(body, { headers: { "content-disposition": disposition, ...headers } });
}

function trickle(piece: Uint8Array, everyMs: number): ReadableStream {
  return new ReadableStream({
    async pull(controller) {
      await Bun.sleep(everyMs);
      controller.enqueue(piece);
    },
  });
}

const options = { signal: new AbortController().signal, timeoutMs: 8_000 };
const fetchFile = (browsing: Browsing, url: string) =>
  browsing.act(
    (page) =>
      page.evaluate(
        `{ const a = document.createElement("a"); a.href = "${url}"; document.body.append(a); a.click(); }`,
      ),
    options,
  );
const goTo = (browsing: Browsing, path: string) =>
  browsing.act((page) => page.goto(base + path).then(() => 1), options);
const told = async (browsing: Browsing): Promise<string> => {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await Bun.sleep(20)) {
    const notices = browsing.notices();
    if (notices.length > 0) return notices.join("\n");
  }
  return "";
};

test("a download is in the workspace when the action that started it ends, under its final name", async () => {
  const browsing = await lab.open("names");
  const { root } = await lab.workspace("names");
  await goTo(browsing, "/");
  for (const path of Object.keys(names)) {
    await fetchFile(browsing, base + path);
    expect(await told(browsing)).toStartWith("A file was downloaded to downloads/");
  }
  await fetchFile(browsing, `${base}/plain`);
  expect(await told(browsing)).toStartWith("A file was downloaded to downloads/report-2.csv (17 bytes).");
  const files = await readdir(join(root, "downloads"));
  expect(files).toHaveLength(6);
  for (const file of files) expect(file).toMatch(/^\w[\w.-]{0,119}$/);
  expect(await readFile(join(root, "downloads", "report.csv"), "utf8")).toBe("content of /plain");
});

test("downloads that never end, or would be too large, are cancelled and reported", async () => {
  const browsing = await lab.open("names");
  const { root } = await lab.workspace("names");
  await goTo(browsing, "/");
  for (const [url, why] of [
    [`${base}/endless`, "larger than 1 MB"],
    [`http://${hugeHost}/`, "larger than 1 MB"],
    [`${base}/slow`, "longer than 1.5 s"],
  ] as const) {
    await fetchFile(browsing, url);
    expect(await told(browsing)).toMatch(new RegExp(`was cancelled: it (?:is|took) ${why}`));
  }
  expect((await readdir(join(root, "downloads"))).filter((name) => name.endsWith(".bin"))).toEqual([]);
});

test("two conversations share neither cookies nor storage nor downloads", async () => {
  const [one, two] = [await lab.open("names"), await lab.open("other")];
  const text = (browsing: Browsing) => browsing.act((page) => page.locator("body").textContent(), options);
  await goTo(one, "/cookie");
  await goTo(one, "/cookie");
  await one.act((page) => page.evaluate("localStorage.setItem('who', 'me')"), options);
  expect(await text(one)).toBe("who=me");
  await goTo(two, "/cookie");
  expect(await text(two)).toBe("none");
  expect(await two.act((page) => page.evaluate("localStorage.getItem('who')"), options)).toBeNull();
  await goTo(two, "/");
  await fetchFile(two, `${base}/plain`);
  expect(await told(two)).toContain("downloads/report.csv");
  expect(one.notices()).toEqual([]);
  expect(await readdir(join((await lab.workspace("other")).root, "downloads"))).toEqual(["report.csv"]);
});

test("one conversation more replaces the one idle longest, which learns of it; a released one does not", async () => {
  const [names, third] = [await lab.workspace("names"), await lab.workspace("third")];
  expect(lab.browsers.peek(names)).toBeDefined();
  await lab.open("third");
  expect(lab.browsers.peek(names)).toBeUndefined();
  expect(lab.browsers.peek(await lab.workspace("other"))).toBeDefined();
  await lab.browsers.release(third);
  expect(lab.browsers.peek(third)).toBeUndefined();
  expect((await lab.open("third")).notices()).toEqual([]);
  await lab.browsers.release(third);
  const again = await lab.open("names");
  expect(again.notices().join()).toContain("to make room for others");
  // The number of its first tab is never another tab's.
  expect(again.active().id).toBeGreaterThan(1);
});

test("an idle browser ends, and the next use starts one", async () => {
  await using lab = await browsersForTest([], { idleMs: 100 });
  const first = await lab.open("idle");
  const deadline = Date.now() + 60_000;
  while (processesOf(lab.home).length > 0 && Date.now() < deadline) await Bun.sleep(50);
  expect(processesOf(lab.home)).toEqual([]);
  expect(() => first.tabs()).toThrow("after 0.1 s without use");
  expect((await lab.open("idle")).notices().join()).toContain("after 0.1 s without use");
});
