import { afterAll, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright";
import { AppError } from "../../core/errors.ts";
import { browsersForTest, processesOf } from "../../testing/browser/browsers.ts";
import { sendSignal } from "../kernel/process-table.ts";
import type { Browsing } from "./browser.ts";

const pages: Record<string, string> = {
  "/": "<h1>home</h1>",
  "/alert": "<button onclick=\"alert('seen?'); document.title = 'after'\">go</button>",
  "/ask": "<button onclick=\"document.title = String(confirm('sure?')) + prompt('name', 'none')\">go</button>",
  "/storm":
    "<button onclick=\"for (let i = 0; i < 30; i++) confirm('again ' + i); document.title = 'done'\">go</button>",
  "/leave": "<input><script>onbeforeunload = (event) => event.preventDefault()</script>",
  "/loop": '<button onclick="for (;;);">go</button>',
  "/many": "<script>for (let i = 0; i < 20000; i++) document.write('<button>b' + i + '</button>')</script>",
  "/popups": "<button onclick=\"for (let i = 0; i < 100; i++) window.open('about:blank')\">go</button>",
  "/gone": "<script>setTimeout(close, 50)</script>",
};
const site = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  fetch(request) {
    const { pathname } = new URL(request.url);
    return new Response(pages[pathname], { headers: { "content-type": "text/html" } });
  },
});
const base = `http://127.0.0.1:${site.port}`;
const lab = await browsersForTest([`127.0.0.1:${site.port}`], { tabs: 6, patienceMs: 1_000 });
afterAll(async () => {
  await lab[Symbol.asyncDispose]();
  await site.stop(true);
});

const signal = new AbortController().signal;
const browsing = await lab.open("trouble");
const act = <T>(run: (page: Page) => Promise<T>, timeoutMs = 8_000, on: Browsing = browsing) =>
  on.act(run, { signal, timeoutMs });
const visit = (path: string) => act((page) => page.goto(base + path).then((answer) => answer?.status()));
const press = () => act((page) => page.click("button"));
const title = () => act((page) => page.title());
const failure = (work: Promise<unknown>) =>
  work.then(
    () => new AppError("internal", "it did not fail"),
    (error: AppError) => error,
  );

test("an alert is accepted and reported", async () => {
  await visit("/alert");
  await press();
  expect(await title()).toBe("after");
  expect(browsing.notices()).toEqual(['The page showed an alert, which was accepted: "seen?"']);
});

test("questions block the page until they are answered", async () => {
  await visit("/ask");
  expect(await press()).toBeUndefined();
  expect(browsing.dialog()).toMatchObject({ kind: "confirm", message: "sure?" });
  await browsing.dialog()?.answer(true);
  await until(() => browsing.dialog()?.kind === "prompt");
  expect(browsing.dialog()?.defaultText).toBe("none");
  await browsing.dialog()?.answer(true, "Ada");
  expect(await title()).toBe("trueAda");
  expect(browsing.notices()).toEqual([]);
});

test("an unanswered question is dismissed by the next action", async () => {
  await visit("/ask");
  await press();
  expect(await act((page) => page.evaluate("1 + 1"))).toBeUndefined();
  expect(browsing.dialog()?.kind).toBe("prompt");
  expect(await title()).toBe("falsenull");
  expect(browsing.notices()).toEqual([
    'The confirm dialog "sure?" was dismissed: nobody answered it before the next action.',
    'The prompt dialog "name" was dismissed: nobody answered it before the next action.',
  ]);
});

test("a question waits for its answer until its conversation's tabs are closed", async () => {
  await using hasty = await browsersForTest([`127.0.0.1:${site.port}`], { idleMs: 1_000 });
  const workspace = await hasty.workspace("asked");
  const asked = await hasty.open("asked");
  await act((page) => page.goto(`${base}/ask`), 8_000, asked);
  await act((page) => page.click("button"), 8_000, asked);
  expect(asked.dialog()?.message).toBe("sure?");
  await until(() => hasty.browsers.peek(workspace) === undefined);
  expect(asked.notices()).toEqual([]);
});

test("a storm of dialogs ends by itself", async () => {
  await visit("/storm");
  await press();
  for (let asked = 1; asked < 5; asked++) expect(await title()).toBeUndefined();
  await until(async () => (await title()) === "done");
  expect(browsing.notices().join("\n")).toContain("those after the first 5 were closed unasked");
});

test("a page that asks before it is left is left if the answer says so", async () => {
  await visit("/leave");
  await act((page) => page.fill("input", "unsaved"));
  expect(await visit("/")).toBeUndefined();
  expect(browsing.dialog()?.kind).toBe("beforeunload");
  await browsing.dialog()?.answer(true);
  await until(() => browsing.active().page.url() === `${base}/`);
});

test("permission prompts are denied at once", async () => {
  await visit("/");
  const answers = await act((page) =>
    page.evaluate(`Promise.all([
      Notification.requestPermission(),
      new Promise((resolve) => navigator.geolocation.getCurrentPosition(() => resolve("here"), (error) => resolve(error.message))),
    ])`),
  );
  expect(answers).toEqual(["denied", "User denied Geolocation"]);
});

test("a page that does not answer stays open once, and is replaced by an empty tab the next time", async () => {
  await visit("/loop");
  const { id } = browsing.active();
  const busy = await failure(act((page) => page.click("button"), 700));
  expect(busy).toMatchObject({
    code: "timeout",
    message: expect.stringContaining("too busy to answer, and stays open"),
  });
  expect(browsing.active().id).toBe(id);
  const begun = performance.now();
  const error = await failure(act((page) => page.click("button"), 700));
  expect(error).toMatchObject({ code: "timeout", message: expect.stringContaining(`Tab ${id} was closed.`) });
  expect(performance.now() - begun).toBeLessThan(30_000);
  expect(await visit("/")).toBe(200);
  expect(browsing.active().id).toBeGreaterThan(id);
});

test("waiting in vain ends in time and leaves the page as it is", async () => {
  await visit("/");
  const { id } = browsing.active();
  const error = await failure(act((page) => page.click("#nothing"), 300));
  expect(error).toMatchObject({ code: "timeout", message: expect.stringContaining("Timeout 300ms exceeded") });
  expect(browsing.active().id).toBe(id);
});

test("a cancelled action ends with the signal's own reason", async () => {
  const control = new AbortController();
  const reason = new Error("enough");
  const pending = browsing.act((page) => page.waitForSelector("#nothing"), {
    signal: control.signal,
    timeoutMs: 5_000,
  });
  control.abort(reason);
  expect(await pending.catch((error) => error)).toBe(reason);
});

test("a page of twenty thousand elements loads, and actions that take too long on it end in time", async () => {
  expect(await visit("/many")).toBe(200);
  const error = await failure(act((page) => page.evaluate("new Promise(() => undefined)"), 300));
  expect(error.code).toBe("timeout");
  expect(await visit("/")).toBe(200);
});

test("of a hundred popups as many stay as tabs are allowed", async () => {
  await visit("/popups");
  await act((page) => page.click("button"), 60_000);
  await until(() => browsing.notices().some((notice) => notice.includes("closed at once")));
  expect(browsing.tabs()).toHaveLength(6);
  expect(browsing.active().id).toBe(browsing.tabs().at(-1)?.id ?? 0);
  for (const { id } of browsing.tabs()) await browsing.closeTab(id);
  expect(browsing.tabs()).toHaveLength(1);
  expect(await visit("/")).toBe(200);
});

test("a tab that closes itself is followed by an empty one", async () => {
  const { id } = await browsing.openTab();
  await browsing.closeTab(browsing.tabs()[0]?.id ?? 0);
  await act((page) => page.evaluate(`open("${base}/gone"); 1`));
  await browsing.closeTab(id);
  await until(() => browsing.tabs().length === 1 && browsing.tabs()[0]?.page.url() === "about:blank");
  expect(await visit("/")).toBe(200);
});

test("tabs have numbers that are never reused", async () => {
  const { id } = await browsing.openTab();
  await browsing.closeTab(id);
  expect(await failure(browsing.activate(id))).toMatchObject({ code: "not_found" });
  expect((await browsing.openTab()).id).toBeGreaterThan(id);
});

test("a crashed renderer fails the action, and the next one works", async () => {
  await visit("/");
  browsing.notices();
  const error = await failure(
    act(async (page) => {
      const session = await page.context().newCDPSession(page);
      await session.send("Page.crash");
      await page.waitForSelector("#nothing");
    }),
  );
  expect(error).toMatchObject({ code: "unavailable", message: expect.stringContaining("crashed") });
  expect(browsing.notices().join("\n")).toContain("crashed");
  expect(await visit("/")).toBe(200);
});

test("a killed browser fails the action at once, and the next use says what is lost", async () => {
  const pending = failure(act((page) => page.waitForSelector("#nothing")));
  for (const pid of processesOf(lab.home)) sendSignal(pid, "SIGKILL");
  expect(await pending).toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("crashed or was ended"),
  });
  expect(await failure(visit("/"))).toMatchObject({ code: "unavailable" });
  const fresh = await lab.open("trouble");
  expect(fresh.notices().join("\n")).toContain("are gone");
  expect(await act((page) => page.goto(`${base}/`).then((answer) => answer?.status()), 8_000, fresh)).toBe(200);
});

test("closing leaves no process and no folder", async () => {
  await using other = await browsersForTest([`127.0.0.1:${site.port}`]);
  await other.open("short");
  expect(processesOf(other.home).length).toBeGreaterThan(0);
  await other.browsers.close();
  expect(processesOf(other.home)).toEqual([]);
  expect(await readdir(join(other.home, "browser"))).toEqual([]);
});

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 60_000; !(await condition()); await Bun.sleep(20))
    if (Date.now() > deadline) throw new Error("it did not come about in time");
}
