import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, chown, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium, type Dialog, type Page } from "playwright";
import { type BrowsersForTest, browsersForTest } from "../../testing/browser/browsers.ts";
import { leanChromium } from "../../testing/browser/lean-chromium.ts";
import { until } from "../../testing/durable/until.ts";
import { startSite } from "../../testing/web/site.ts";
import { findChromium } from "../browser-process/find-chromium.ts";
import { callIsolated } from "../browser-process/isolated-world.ts";
import type { BrowserSettings } from "../browser-process/settings.ts";
import { openWorkspace } from "../workspace/open-workspace.ts";
import type { Browsing } from "./browser.ts";

const html = (body: string, headers: Record<string, string> = {}) =>
  new Response(`<!doctype html>${body}`, { headers: { "content-type": "text/html", ...headers } });
const site = startSite({
  "/in": () => html("signed in", { "set-cookie": "session=of-the-user; Max-Age=9999" }),
  "/": ({ headers }) =>
    html(`<p>${headers.get("cookie") ?? "nobody"}</p>
      <a id=more target=_blank rel=noopener href=/more>more</a> <a id=file href=/file>file</a>`),
  "/more": () => html("more"),
  "/dialog": () => html("<script>setTimeout(() => { document.title = String(confirm('Sure?')) })</script>"),
  "/file": () => new Response("data", { headers: { "content-disposition": "attachment; filename=a.txt" } }),
  "/away": () => Response.redirect("http://10.0.0.1/"),
});

const limits = { signal: AbortSignal.timeout(120_000), timeoutMs: 10_000 };
const read = async (browsing: Browsing, path = "/") =>
  await browsing.act(async (page) => {
    const answer = await page.goto(`${site.url}${path}`);
    return `${answer?.status()} ${await page.textContent("body")}`;
  }, limits);

/**
 * A user-data folder with a log-in, as a user's browser leaves it, in the hands of a user of its
 * own.
 */
async function usedFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-own-"));
  const context = await startUsers(folder);
  await context.pages()[0]?.goto(`${site.url}/in`);
  await context.close();
  if (process.getuid?.() === 0) {
    await Bun.$`chown -R 65534:65534 ${folder}`.quiet();
    await chown(folder, 65534, 65534);
  }
  await chmod(folder, 0o700);
  return folder;
}

const startUsers = async (folder: string, ...args: string[]): Promise<BrowserContext> =>
  await chromium.launchPersistentContext(folder, { ...(await leanChromium()), chromiumSandbox: false, args });

const labs: BrowsersForTest[] = [];
const folders: string[] = [];
const startLab = async (settings: Partial<BrowserSettings>): Promise<BrowsersForTest> => {
  const lab = await browsersForTest([site.host], { ownContext: true, ...settings });
  labs.push(lab);
  return lab;
};
const openAs = async ({ browsers, home }: BrowsersForTest, principal: string, contextId: string) =>
  await browsers.open(await openWorkspace({ home, principal, contextId }), limits.signal);

let user: BrowserContext;
let cdpUrl = "";
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-own-"));
  folders.push(folder);
  user = await startUsers(folder, "--remote-debugging-port=0");
  cdpUrl = `http://127.0.0.1:${(await readFile(join(folder, "DevToolsActivePort"), "utf8")).split("\n")[0]}`;
  await user.pages()[0]?.goto(`${site.url}/in`);
});
afterAll(async () => {
  for (const lab of labs) await lab[Symbol.asyncDispose]();
  await user.close();
  await site[Symbol.asyncDispose]();
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

const usersPages = () => user.pages().map((page) => new URL(page.url()).pathname);

test("a running browser's own context is used with its log-ins, and the tabs of its user are left alone", async () => {
  const lab = await startLab({ cdpUrl });
  const browsing = await openAs(lab, "local", "one");
  expect(await read(browsing)).toContain("200 session=of-the-user");
  expect(browsing.tabs()).toHaveLength(1);
  expect(browsing.hasKept(new URL(`${site.url}/`))).toBe(true);
  // A tab that the user opens in the meantime is the user's, one that the agent's page opens is
  // not.
  const second = await user.newPage();
  const asked = new Promise<Dialog>((resolve) => user.once("dialog", resolve));
  await second.goto(`${site.url}/dialog`, { waitUntil: "commit" });
  const question = await asked;
  await browsing.act((page) => page.click("#more"), limits);
  await until(() => browsing.tabs().length === 2);
  await question.accept();
  await until(async () => (await second.title()) === "true");
  const { egress } = lab.browsers.describe();
  expect(egress).toBe("each hop of the requests of an agent's tabs in its user's own context");
  await lab.browsers.close();
  // The user's side hears a moment later that a tab was closed.
  await until(() => usersPages().join() === "/in,/dialog");
  await second.close();
});

test("pages of a running browser's own context are looked at as all others, also after a new connection", async () => {
  const two = { id: "two", source: "({ two: () => document.readyState.length > 0 ? 2 : 0 })" };
  for (const contextId of ["one", "two"]) {
    const lab = await startLab({ cdpUrl });
    const browsing = await openAs(lab, "local", contextId);
    await read(browsing);
    const ask = (page: Page) => callIsolated<number>(page.mainFrame(), two, { name: "two", timeoutMs: 5_000 });
    expect(await browsing.act(ask, limits)).toBe(2);
    const other = await openAs(lab, "ann", contextId);
    await read(other);
    expect(await other.act(ask, limits)).toBe(2);
    await lab.browsers.close();
  }
});

test("what the agent's tabs of a running browser ask for is judged, and a download's place is told", async () => {
  const lab = await startLab({ cdpUrl });
  const browsing = await openAs(lab, "local", "one");
  await read(browsing);
  await expect(browsing.act((page) => page.goto("http://10.0.0.1/"), limits)).rejects.toThrow("ERR_BLOCKED_BY_CLIENT");
  expect(browsing.notices().join()).toContain("GET http://10.0.0.1/ was refused");
  await expect(browsing.act((page) => page.goto("file:///etc/passwd"), limits)).rejects.toThrow("was left");
  browsing.notices();
  await read(browsing);
  await browsing.act((page) => page.click("#file"), limits);
  let told = "";
  await until(() => {
    told += browsing.notices().join();
    return told !== "";
  });
  expect(told).toBe('The browser saves the download "a.txt" where its user\'s downloads go, not in the workspace.');
  await lab.browsers.close();
});

test("other principals, rendered pages and a system that was not told otherwise begin logged out", async () => {
  const lab = await startLab({ cdpUrl });
  expect(await read(await openAs(lab, "alice", "one"))).toContain("nobody");
  expect((await lab.browsers.render(`${site.url}/`, limits)).html).toContain("nobody");
  const fresh = await startLab({ cdpUrl, ownContext: false });
  expect(await read(await openAs(fresh, "local", "one"))).toContain("nobody");
});

const whole = await findChromium({ headless: false }).catch(() => undefined);
test.skipIf(whole === undefined)(
  "a browser is started with the user's data, behind the proxy, and keeps what is changed",
  async () => {
    const folder = await usedFolder();
    folders.push(folder);
    const lab = await startLab({ userDataDir: folder });
    const [one, two] = [await openAs(lab, "local", "one"), await openAs(lab, "local", "two")];
    expect(await read(one)).toContain("200 session=of-the-user");
    expect(await read(one, "/away")).toContain("403");
    expect(one.notices().join()).toContain("http://10.0.0.1/ was refused");
    expect(lab.browsers.describe().egress).toBe("every request, on the address connected to");
    expect(two.tabs()).toHaveLength(1);
    await lab.browsers.release(await openWorkspace({ home: lab.home, principal: "local", contextId: "one" }));
    expect(await read(two)).toContain("of-the-user");
    await two.act((page) => page.click("#file"), limits);
    await until(() => two.notices().join().includes("downloads/a.txt"));
    expect(await read(await openAs(lab, "alice", "three"))).toContain("nobody");

    const other = await startLab({ userDataDir: folder });
    await expect(openAs(other, "local", "four")).rejects.toThrow(`Another browser is using ${folder}.`);
  },
);

test("a folder that is not there, or that only root may use, is refused with a way out", async () => {
  const missing = await startLab({ userDataDir: "/nowhere/at/all" });
  await expect(openAs(missing, "local", "one")).rejects.toThrow("Create it first.");
  if (process.getuid?.() !== 0) return;
  const folder = await mkdtemp(join(tmpdir(), "manyhands-own-"));
  folders.push(folder);
  const roots = await startLab({ userDataDir: folder });
  await expect(openAs(roots, "local", "one")).rejects.toThrow("belongs to root");
});
