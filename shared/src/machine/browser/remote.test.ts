import { afterAll, expect, test } from "bun:test";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright";
import { browsersForTest } from "../../testing/browser/browsers.ts";
import { leanChromium } from "../../testing/browser/lean-chromium.ts";

const site = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    if (new URL(request.url).pathname === "/to") return Response.redirect("http://10.0.0.1/");
    if (new URL(request.url).pathname === "/file")
      return new Response("from afar", { headers: { "content-disposition": "attachment; filename=a.txt" } });
    return new Response("<h1>here</h1><a href=/file>get</a>", { headers: { "content-type": "text/html" } });
  },
});
const host = `127.0.0.1:${site.port}`;
const profile = await mkdtemp(join(tmpdir(), "manyhands-remote-"));
const lean = await leanChromium();
const server = await chromium.launchServer({ ...lean, chromiumSandbox: false, artifactsDir: profile });
const devtools = await chromium.launchPersistentContext(join(profile, "devtools"), {
  ...lean,
  chromiumSandbox: false,
  artifactsDir: profile,
  args: ["--remote-debugging-port=0"],
});
const port = (await readFile(join(profile, "devtools", "DevToolsActivePort"), "utf8")).split("\n")[0];
afterAll(async () => {
  await Promise.all([server.close(), devtools.close(), site.stop(true)]);
  await rm(profile, { recursive: true, force: true });
});

const options = { signal: new AbortController().signal, timeoutMs: 8_000 };

for (const [kind, settings] of [
  ["cdp", { cdpUrl: `http://127.0.0.1:${port}` }],
  ["playwright", { wssUrl: server.wsEndpoint() }],
] as const)
  test(`a running browser is used at its ${kind} address, within the policy, and not ended`, async () => {
    await using lab = await browsersForTest([host], settings);
    const browsing = await lab.open("one");
    expect(lab.browsers.describe()).toMatchObject({ kind, egress: "every request, on the address connected to" });
    expect(await browsing.act((page) => page.goto(`http://${host}/`).then((answer) => answer?.status()), options)).toBe(
      200,
    );
    await browsing.act((page) => page.click("a"), options);
    const { root } = await lab.workspace("one");
    let told = "";
    for (const deadline = Date.now() + 60_000; told === "" && Date.now() < deadline; await Bun.sleep(20))
      told = browsing.notices().join();
    expect(told).toBe("A file was downloaded to downloads/a.txt (9 bytes).");
    expect(await readdir(join(root, "downloads"))).toEqual(["a.txt"]);
    expect(
      await browsing.act((page) => page.goto(`http://${host}/to`).then((answer) => answer?.status()), options),
    ).toBe(403);
    await lab.browsers.close();
    await using again = await browsersForTest([host], settings);
    expect((await again.open("two")).tabs()).toHaveLength(1);
  });

test("for a browser elsewhere, which does not reach the proxy, the policy applies to each hop, and that is reported", async () => {
  // This is an address of this machine too, but not one that is recognized as such.
  const cdpUrl = `http://0.0.0.0:${port}`;
  await using lab = await browsersForTest([host], { cdpUrl });
  const browsing = await lab.open("one");
  const fetched = (url: string) =>
    browsing.act((page) => page.evaluate(`fetch("${url}").then((r) => r.status, () => "blocked")`), options);
  expect(lab.browsers.describe().egress).toBe("each hop of every request that the browser tells of");
  expect(await browsing.act((page) => page.goto(`http://${host}/`).then((answer) => answer?.status()), options)).toBe(
    200,
  );
  expect(await fetched("http://10.0.0.1/")).toBe("blocked");
  expect(await fetched(`http://${host}/`)).toBe(200);
  expect(browsing.notices().join()).toContain("GET http://10.0.0.1/ was refused");
  const socket = `new Promise((resolve) => { new WebSocket("ws://10.0.0.1/").onclose = () => resolve("closed"); })`;
  expect(await browsing.act((page) => page.evaluate(socket), options)).toBe("closed");
  expect(browsing.notices().join()).toContain("CONNECT http://10.0.0.1/ was refused");
  const redirected = (path: string) =>
    browsing.act((page) => page.goto(`http://${host}${path}`).then((answer) => answer?.status()), options);
  await expect(redirected("/to")).rejects.toThrow("ERR_BLOCKED_BY_CLIENT");
  expect(await fetched(`http://${host}/to`)).toBe("blocked");
  expect(browsing.notices().join()).toContain("was refused");
});
