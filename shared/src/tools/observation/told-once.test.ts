import { afterAll, expect, test } from "bun:test";
import { refOf, startDesk } from "../../testing/browser/desk.ts";

const days = Array.from({ length: 14 }, (_, n) => `<td onclick="picked.textContent = 'Day ${14 - n}'">${14 - n}</td>`);
const dots = Array.from({ length: 9 }, (_, n) => `<circle cx=${20 * n + 20} cy=20 r=9 fill=blue />`);

const drawing = (attributes: string, inside = "") =>
  `<svg width=120 height=60 ${attributes}>${inside}<path d="M0 0h90v40z" /></svg>`;

const desk = await startDesk({
  "/plain": `<title>Plain</title><h1>Plain</h1><a href="/tall?of=plain">Tall</a>`,
  "/tall": `<title>Tall</title><h1>Tall</h1><div style="height:3000px"></div>`,
  "/prices": `<table><tr><th>Lamp</th><th>Price</th></tr>
    <tr onclick="this.lastChild.textContent = 'sold'"><td><a href="/plain">Ardo</a></td><td>12 EUR</td><td>2 left</td></tr></table>
    <ul><li><div>Only words</div></li></ul>`,
  "/days": `<p id=picked>None</p><table><tr>${days.join("")}</tr></table>`,
  "/plot": `<svg width=220 height=40>${dots.join("")}<text x=0 y=39>Axis</text></svg>`,
  "/logo": `<h1>Shop</h1><a href="/plain" aria-label="Home">${drawing("")}</a>${drawing('aria-label="Sales by month"')}${drawing("", "<title>Map</title>")}`,
  "/chart": `<h1>Sales</h1>${drawing("")}`,
  "/form": `<label><input type=checkbox> I accept the <a href="/plain">terms</a> of sale</label>
    <label for=mail style="cursor:pointer">Mail to <a href="/tall">us</a></label><input id=mail>
    <p>Pay by <a href="/plain">card</a></p><input aria-label="Pay by card or cash">
    <input id=news type=checkbox><label for=news>News</label>`,
  "/ask": "<button onclick=\"confirm('Really?')\">Ask</button>",
  "/name": "<button onclick=\"prompt('Your name?' + ' '.repeat(400) + 'In full.', 'Bob')\">Name</button>",
  "/loud": `<input aria-label=First><input type=checkbox aria-label=Loud onclick="confirm('Sure?')"><input aria-label=Last>`,
  "/alert": "<button>Tell</button>",
});
afterAll(() => desk[Symbol.asyncDispose]());

test("a page's whole address is told once, and how far it is scrolled only if not all is in view", async () => {
  const plain = await desk.open("/plain");
  expect(plain).toStartWith(`Page: ${desk.url}/plain\n<web-content from="${desk.url}">\nTitle: Plain\n`);
  const clicked = await desk.call("click_element", { ref: refOf(plain, 'link "Tall"') });
  expect(clicked.text).toContain("The page is now /tall?of=plain.");
  expect((await desk.see()).text).toContain("\nWindow: 1280×800 px; 0 px above, ");
});

test("a row has one ref for all in it that cannot be operated, and any of its words can be clicked by it", async () => {
  const text = await desk.open("/prices");
  expect(text).toMatch(/- row \[e\d+\]: columnheader "Lamp" \| columnheader "Price"\n/);
  expect(text).toMatch(/- row \[e\d+\]: link "Ardo" \[e\d+\] \| 12 EUR \| 2 left\n/);
  expect(text).toMatch(/- Only words \[e\d+\]\n/);
  const clicked = await desk.call("click_element", { ref: refOf(text, "row [e"), text: "Price" });
  expect(clicked.text).toMatch(/^Clicked "Price" in row/);
});

test("of words that are also part of longer ones, those are clicked that stand alone", async () => {
  const text = await desk.open("/days");
  const row = refOf(text, "row [e");
  await desk.call("click_element", { ref: row, text: "4" });
  expect((await desk.see()).text).toContain("Day 4");
  await desk.call("click_element", { ref: row, text: "13" });
  expect((await desk.see()).text).toContain("Day 13");
});

test("what a snapshot has just told is not repeated: only what is new, and what changes after it", async () => {
  await desk.call("go_to_url", { url: `${desk.url}/prices` });
  const { text, shows } = await desk.call("snapshot");
  expect(text).toContain("Ardo");
  expect(shows?.of).toBe("browser page");
  const seen = await desk.see();
  expect(seen.text).toBe("The page is as browser_snapshot shows it.");
  expect([seen.since, seen.brief?.includes("Ardo")]).toEqual([undefined, true]);
  expect(await desk.seeSince(seen.mark)).toBeUndefined();
  await desk.call("snapshot");
  expect(await desk.seeSince(seen.mark)).toBeUndefined();
  // A conversation that has nothing is not sent to a snapshot that another look has used up.
  expect((await desk.see()).text).toContain("Ardo");
  await desk.call("snapshot");
  const page = desk.browsing().active().page;
  await page.evaluate("document.querySelector('li').append('Further')");
  const changed = await desk.seeSince(seen.mark);
  expect(changed?.text).toContain("Further");
  expect(changed?.text).not.toContain("Ardo");
  await desk.call("snapshot");
  const screenshot = await desk.call("screenshot");
  expect([screenshot.images?.length, await desk.seeSince(changed?.mark)]).toEqual([1, undefined]);
  await page.goto(`${desk.url}/plain`);
  await desk.call("snapshot", { find: "Tall" });
  expect((await desk.see()).text).toContain('heading "Plain"');
});

test("a field's label is told once, also where it holds a link, which stays", async () => {
  const text = await desk.open("/form");
  const lines = text.split("\n").filter((line) => line.startsWith("- "));
  expect(lines.map((line) => line.slice(2).replaceAll(/ \[e\d+\]/g, ""))).toEqual([
    'checkbox "I accept the terms of sale"',
    'link "terms"',
    'link "us"',
    'textbox "Mail to us"',
    // These are not the words of the field beside them.
    "Pay by",
    'link "card"',
    'textbox "Pay by card or cash"',
    'checkbox "News"',
  ]);
});

test("words that stand beside many shapes are told once", async () => {
  const text = await desk.open("/plot");
  expect(text.match(/circle \[e\d+\]: 18×18 px/g)).toHaveLength(9);
  expect(text.match(/beside "Axis"/g)).toHaveLength(1);
});

test("a dialog that a result told is not told again with the page it blocks", async () => {
  const text = await desk.open("/ask");
  const { mark } = await desk.see();
  const clicked = await desk.call("click_element", { ref: refOf(text, "Ask") });
  expect(clicked.text).toContain("Really?");
  expect(await desk.seeSince(mark)).toBeUndefined();
  expect((await desk.see()).text).toContain("Really?");
  await desk.call("handle_dialog", { accept: false });
});

test("a prompt is told whole with the answer it proposes, where it is told once", async () => {
  const text = await desk.open("/name");
  const clicked = await desk.call("click_element", { ref: refOf(text, "Name") });
  expect(clicked.text).toContain('A prompt dialog opened and holds the page up, its default answer is "Bob".');
  expect(clicked.text).toContain("In full.");
  await desk.call("handle_dialog", { accept: false });
});

test("where a dialog interrupts a form, it is told which field was being set and what was left", async () => {
  const text = await desk.open("/loud");
  const [first, loud, last] = ["First", "Loud", "Last"].map((name) => refOf(text, name));
  const fields = [
    { ref: first, value: "a" },
    { ref: loud, value: true },
    { ref: last, value: "b" },
  ];
  const filled = await desk.call("fill_form", { fields });
  expect(filled.text).toStartWith(
    `Set textbox "First" [${first}]. checkbox "Loud" [${loud}] was being set, and the fields after it were left. A confirm`,
  );
  await desk.call("handle_dialog", { accept: true });
});

test("what an observation told of the page's doings is not told again by the next result", async () => {
  const text = await desk.open("/alert");
  await desk.browsing().active().page.evaluate("alert('Seen?')");
  const { text: told, mark } = await desk.see();
  expect(told).toContain('The page showed an alert, which was accepted: "Seen?"');
  expect(await desk.seeSince(mark)).toBeUndefined();
  expect((await desk.call("click_element", { ref: refOf(text, "Tell") })).text).not.toContain("Seen?");
});

test("no picture is sent for drawings that words name, such as the logo in a link", async () => {
  await desk.open("/logo");
  expect(await desk.see({ vision: true })).not.toHaveProperty("images");
  await desk.open("/chart");
  expect((await desk.see({ vision: true })).images).toHaveLength(1);
});
