import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowsersForTest, browsersForTest } from "../../testing/browser/browsers.ts";
import { until } from "../../testing/durable/until.ts";
import { startSite } from "../../testing/web/site.ts";
import { profileFiles } from "../browser-profile/profile-files.ts";
import { createProfileStore, type ProfileStore } from "../browser-profile/profile-store.ts";
import { openWorkspace } from "../workspace/open-workspace.ts";
import type { Browsing } from "./browser.ts";

const html = (body: string, headers: Record<string, string> = {}) =>
  new Response(`<!doctype html>${body}`, { headers: { "content-type": "text/html", ...headers } });
const site = startSite({
  "/in": () =>
    html(`<script>localStorage.word = "sesame-stored"</script>`, {
      "set-cookie": "session=sesame-cookie; Max-Age=9999",
    }),
  "/": ({ headers }) =>
    html(
      `<p id=c>${headers.get("cookie") ?? "nobody"}</p><p id=l></p><script>l.textContent = localStorage.word</script>`,
    ),
});
let home = "";
let store: ProfileStore;
let lab: BrowsersForTest;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "manyhands-keep-profile-"));
  store = createProfileStore(profileFiles(home));
  lab = await browsersForTest([site.host], { profile: { name: "main", store } });
});
afterAll(async () => {
  await lab[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
  await rm(home, { recursive: true });
});

const signal = AbortSignal.timeout(120_000);
const place = (principal: string, contextId: string) => openWorkspace({ home: lab.home, principal, contextId });
const visit = async (browsing: Browsing, path = "/") =>
  await browsing.act(
    async (page) => {
      await page.goto(`${site.url}${path}`);
      return (await page.textContent("body")) ?? "";
    },
    { signal, timeoutMs: 20_000 },
  );
const open = async (principal: string, contextId: string) =>
  await lab.browsers.open(await place(principal, contextId), signal);

test("log-ins are there in the principal's next conversation, not in another's, and saving them shows in no tab", async () => {
  const first = await open("ada", "one");
  expect(first.hasKept(new URL(site.url))).toBe(false);
  await visit(first, "/in");
  await until(async () => ((await store.list("ada"))[0]?.sites ?? []).length > 0);
  expect(first.tabs().length).toBe(1);
  expect(first.notices()).toEqual([]);

  const beside = await open("ada", "beside");
  expect(beside.notices().join()).toContain("Another conversation is using the browser profile main");
  expect(await visit(beside)).toContain("sesame-cookie");
  await lab.browsers.release(await place("ada", "one"));
  await lab.browsers.release(await place("ada", "beside"));

  const second = await open("ada", "two");
  expect(second.notices()).toEqual([]);
  expect(second.hasKept(new URL(site.url))).toBe(true);
  expect(await visit(second)).toMatch(/session=sesame-cookie.*sesame-stored/s);
  expect(second.tabs().length).toBe(1);
  const bobs = await open("bob", "two");
  expect(await visit(bobs)).toContain("nobody");
}, 120_000);

test("a profile that is deleted while it is used is closed, and nothing of it is on disk", async () => {
  const browsing = await open("ada", "two");
  expect(await store.remove("ada", "main")).toBe(true);
  await visit(browsing);
  const workspace = await place("ada", "two");
  await until(() => lab.browsers.peek(workspace) !== browsing);
  const again = await open("ada", "two");
  expect(again.notices().join()).toContain("The browser profile main was deleted");
  expect(await visit(again)).toContain("nobody");
  for (const folder of [home, lab.home])
    for (const name of await readdir(folder, { recursive: true })) {
      const content = await readFile(join(folder, name), "latin1").catch(() => "");
      expect({ name, holds: /sesame-(?:cookie|stored)/.test(content) }).toEqual({ name, holds: false });
    }
}, 120_000);
