import { afterAll, expect, test } from "bun:test";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright";
import { refOf, startDesk } from "../../testing/browser/desk.ts";
import { leanChromium } from "../../testing/browser/lean-chromium.ts";

/** What a page's HTML is shown as, a line each. */
const shown: readonly (readonly [what: string, html: string, ...lines: readonly (string | RegExp)[]])[] = [
  ["a label around a field", "<label>City <input value=Rome></label>", 'textbox "City" [e]: Rome'],
  ["a label elsewhere", "<label for=s>Street</label><input id=s>", 'textbox "Street" [e]'],
  [
    "elements that others name",
    "<i id=a>Delete</i> <i id=b>file</i><button aria-labelledby='a b'></button>",
    'button "Delete file" [e]',
  ],
  [
    "a label with a field in it",
    "<label><input type=checkbox> Every <input value=5 aria-label=x> days</label>",
    'checkbox "Every 5 days" [e]',
  ],
  [
    "a label with fields in it that were typed into by a person, or hold a secret",
    `<label><input type=checkbox> Card <input value=4111 aria-label=x data-manyhands-covered> <input type=number value=4112 aria-label=y data-manyhands-covered>
    <textarea aria-label=z data-manyhands-covered>4113</textarea> <input type=password value=4114 aria-label=p><input aria-label=e data-manyhands-covered>!</label>`,
    'checkbox "Card ••• ••• ••• !" [e]',
  ],
  [
    "a placeholder",
    "<input placeholder=Mail><input aria-label=Name placeholder=Ann>",
    'textbox "Mail" [e]',
    'textbox "Name" [placeholder "Ann"] [e]',
  ],
  [
    "buttons of forms",
    "<input type=submit><input type=reset value=Clear><input type=image alt=Pay>",
    'button "Submit" [e]',
    'button "Clear" [e]',
    'button "Pay" [e]',
  ],
  [
    "a legend",
    "<fieldset disabled><legend>Address</legend><input aria-label=Town></fieldset>",
    'group "Address" [disabled]: textbox "Town" [disabled] [e]',
  ],
  [
    "a caption and headers",
    "<table><caption>Prices</caption><tr><th>Plan<th>Price<tr><th>Basic<td>5</table>",
    'table "Prices" [e]',
    /row \[e\]: columnheader "Plan" \| columnheader "Price"/,
    /row \[e\]: rowheader "Basic" \| 5/,
  ],
  [
    "a link of words and elements",
    "<a href=/1><h3>Title</h3>by <i>Ann</i></a>",
    'link [e] → /1: heading "Title" [level 3] | by Ann',
  ],
  ["a link of words only", "<a href=/1><span>Read</span> <b>more</b></a>", 'link "Read more" [e] → /1'],
  [
    "an icon's title",
    "<button><svg width=9 height=9><title>Print</title></svg></button>",
    'button [e]: img "Print" [e]',
  ],
  ["text of a style", "<style>b::after { content: ' (new)' }</style><p>Mail<b></b></p>", "Mail (new) [e]"],
  ["an alternative text", "<img alt=Cat width=9 height=9><img alt='' width=9 height=9>", 'img "Cat" [e]'],
  [
    "states",
    "<button aria-pressed=true aria-expanded=true>Bold</button><div role=checkbox aria-checked=mixed tabindex=0>All</div>",
    'button "Bold" [pressed] [expanded] [e]',
    'checkbox "All" [checked: mixed] [e]',
  ],
  [
    "a slider of a page",
    "<div role=slider aria-label=Size aria-valuenow=3 tabindex=0 style='width:9px;height:9px'></div>",
    'slider "Size" [e]: 3 (0 to 100; browser_input_text sets it)',
  ],
  [
    "an editor",
    "<div role=textbox contenteditable aria-label=Text><p>One</p><p>Two</p></div>",
    'textbox "Text" [e]',
    "One [e]",
    "Two [e]",
  ],
  [
    "a tree",
    "<ul role=tree><li role=treeitem aria-level=1 aria-expanded=true>Root<ul role=group><li role=treeitem aria-level=2>Leaf</ul></ul>",
    'treeitem "Root" [level 1] [expanded] [e]',
    /treeitem "Leaf" \[level 2\]/,
  ],
  [
    "details",
    "<details open><summary>More</summary>inside</details><details><summary>Less</summary>folded</details>",
    /button "More" \[expanded\] \[e\] \| inside/,
    /button "Less" \[e\]/,
  ],
  ["a table for presentation", "<table role=presentation><tr><td>cell</table>", "cell [e]"],
  [
    "what is owned",
    "<div role=list aria-owns=late><div role=listitem>first</div></div>between<div id=late role=listitem>owned</div>",
    "listitem [e]: first",
    "listitem [e]: owned",
    "between",
  ],
  [
    "slots",
    "<x-a>light<b slot=s>put</b></x-a><script>document.querySelector('x-a').attachShadow({ mode: 'open' }).innerHTML = '<slot name=s></slot> <slot name=t>instead</slot>'</script>",
    "put instead [e]",
  ],
  [
    "a closed dialog",
    "<dialog><p>closed</p></dialog><dialog open aria-label=Note>open</dialog>",
    'dialog "Note" [e]: open',
  ],
  [
    "what an invisible element holds",
    "<p style='visibility:hidden'>gone <b style='visibility:visible'>back</b></p>",
    "back [e]",
  ],
  [
    "a clickable element in another",
    "<div style='cursor:pointer'><p>One</p><p style='cursor:pointer'>Two</p></div>",
    "clickable [e]: One | Two",
  ],
  [
    "a header of the page and one of an article",
    "<header>Top</header><article><header>Head</header></article>",
    "banner [e]: Top",
    "Head [e]",
  ],
];

/**
 * What a page does to be taken for another: to its elements' properties, and to all that scripts
 * call.
 */
const forging = `<form id=f><input name=tagName><input name=getAttribute><input name=childNodes><input name=parentNode>
  <button aria-label="Delete all">Keep</button></form><img name=body><img name=querySelectorAll><img name=getElementById>
  <button id=b>Order</button><script>
  Element.prototype.getAttribute = () => "forged"; Element.prototype.matches = () => false;
  for (const [of, name] of [[Element, "localName"], [Node, "childNodes"], [Node, "textContent"], [Document, "body"]])
    Object.defineProperty(of.prototype, name, { get: () => "forged" });
  getComputedStyle = () => ({ display: "none" }); JSON.stringify = () => '{"value":{}}';
  b.onclick = () => { f.replaceWith("ordered") };</script>`;

const desk = await startDesk({
  ...Object.fromEntries(shown.map(([, html], index) => [`/${index}`, html])),
  "/forging": forging,
  "/strict": () =>
    new Response("<h1>Strict</h1><button>Go</button>", {
      headers: { "content-type": "text/html", "content-security-policy": "default-src 'none'" },
    }),
  "/nested": `<iframe srcdoc="<p>Inner</p><iframe srcdoc='<button>Deep</button>'></iframe>"></iframe>`,
});
const profile = await mkdtemp(join(tmpdir(), "manyhands-outline-"));
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
  await Promise.all([desk[Symbol.asyncDispose](), server.close(), devtools.close()]);
  await rm(profile, { recursive: true, force: true });
});

for (const [index, [what, , ...lines]] of shown.entries())
  test(`${what}: shown with role, name, state and value`, async () => {
    await desk.open(`/${index}`);
    const { text } = await desk.call("snapshot", { full: true });
    const found = text.replaceAll(/ \[e\d+\]/g, " [e]").split("\n");
    const all = found.map((line) => line.replace(/^ *- /, ""));
    for (const line of lines)
      if (typeof line === "string") expect(all).toContain(line);
      else expect(text.replaceAll(/ \[e\d+\]/g, " [e]")).toMatch(line);
    // A port may be one of these numbers.
    expect(text.replaceAll(/http:\S+/g, "")).not.toMatch(/folded|closed|gone|411\d/);
  });

test("a page that replaces what scripts call, and names its fields after properties, cannot give its elements other names", async () => {
  const text = await desk.open("/forging");
  expect(text).not.toContain("forged");
  expect(text).toContain('button "Delete all"');
  expect(await desk.call("click_element", { ref: refOf(text, 'button "Order"') })).toMatchObject({
    isError: false,
    text: expect.stringContaining('Clicked button "Order"'),
  });
  expect((await desk.see()).text).toContain("ordered");
});

test("a page that allows no scripts is shown, and so is a frame in a frame", async () => {
  expect(await desk.open("/strict")).toMatch(/heading "Strict".*\n- button "Go" \[e\d+\]/);
  const text = await desk.open("/nested");
  expect(text).toContain("Inner");
  expect(await desk.call("click_element", { ref: refOf(text, 'button "Deep"') })).toMatchObject({ isError: false });
});

for (const [kind, settings] of [
  ["started here", {}],
  ["reached by cdp_url", { cdpUrl: `http://127.0.0.1:${port}` }],
  ["reached by wss_url", { wssUrl: server.wsEndpoint() }],
] as const)
  test(`in a browser ${kind}, the elements of a page, and those of a frame of another site, are seen and clicked`, async () => {
    const inner = "<button onclick=\"textContent = 'Paid'\">Pay</button>";
    await using far = await startDesk(
      {
        "/": (request) => {
          const { port } = new URL(request.url);
          const html = `<button onclick="document.title = 'sent'">Send</button><iframe src="http://localhost:${port}/inner"></iframe>`;
          return new Response(html, { headers: { "content-type": "text/html" } });
        },
        "/inner": inner,
      },
      { ...settings, policy: { allow: ["127.0.0.1", "localhost"], deny: [], only: [] } },
    );
    const text = await far.open("/");
    await far.call("click_element", { ref: refOf(text, 'button "Send"') });
    await far.call("click_element", { ref: refOf(text, 'button "Pay"') });
    expect((await far.see()).text).toMatch(/Title: sent(.|\n)*button "Paid"/);
  });
