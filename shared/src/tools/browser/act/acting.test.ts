import { afterAll, beforeEach, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { refOf, startDesk } from "../../../testing/browser/desk.ts";

const desk = await startDesk({
  "/one": '<title>One</title><h1>One</h1><a href="/two">Next</a><a href="/two" target=_blank>New tab</a>',
  "/steps": `<title>Steps</title><form method=post><button>Go on</button></form>`,
  "/two": "<title>Two</title><h1>Two</h1>",
  "/broken": () => new Response("<h1>Gone</h1>", { status: 404, headers: { "content-type": "text/html" } }),
  "/rows": `<p>Buy early</p><ul>${["Ann", "Bob"].map((name) => `<li>Buy ${name} or not <button onclick="document.title = '${name}'">Buy</button></li>`).join("")}<li><button>Sell</button></li></ul>`,
  "/hover": `<style>ul ul { display: none } li:hover ul { display: block }</style><p>${"Words of the page. ".repeat(40)}</p>
    <nav aria-label=Main><ul><li><a href="/one">Home</a></li><li><a href="#" onclick="return false">Products</a>
    <ul><li><a href="/one">Lamps</a></li><li><a href="/two">Chairs</a></li></ul></li></ul></nav>`,
  "/form": `<form onsubmit="document.title = 'sent ' + new URLSearchParams(new FormData(this)); return false">
    <input name=name aria-label=Name value=old><textarea name=about aria-label=About></textarea>
    <input name=day type=date aria-label=Day><input name=ok type=checkbox aria-label=Agree>
    <select name=size aria-label=Size><option value=s>Small<option value=l>Large<option disabled>Huge</select>
    <input readonly aria-label=Fixed value=f><button>Send</button><button type=button disabled>Never</button>
    <button type=button>Idle</button></form>`,
  "/hours": `<button onclick="this.style.background = 'lime'">9:00</button><button onclick="this.className = 'on'">10:00</button>
    <button onclick="this.className = 'on'; this.title = 'taken'">11:00</button>`,
  "/keys": `<input aria-label=Find onkeyup="hint.textContent = 'hint for ' + this.value"><p id=hint></p>
    <div role=combobox tabindex=0 aria-label=Colour onclick="box.hidden = false">pick</div>
    <ul role=listbox id=box hidden><li role=option onclick="document.title = this.textContent">Red<li role=option onclick="document.title = this.textContent">Blue</ul>`,
  "/many": `<select multiple aria-label=Colours onchange="document.title = [...this.selectedOptions].map((one) => one.text).join()"><option>Red<option>Green<option>Blue</select>`,
  "/inner": `<button>Within</button>`,
  "/framed": `<iframe src="/inner" width=300 height=90></iframe><div style="position:fixed;inset:0;background:#fff">Accept our cookies</div>`,
  "/cover": `<button onclick="document.title = 'through'">Below</button><div style="position:fixed;inset:0;background:#fff">Accept our cookies</div>`,
  "/text": `<p style="cursor:default">Read <span onclick="document.title = 'terms'">the terms</span> first</p><p id=far style="margin-top:3000px">Far away</p>
    <div style="height:60px;overflow:auto" aria-label=Box role=region tabindex=0><p style="height:600px">inner</p></div>`,
  "/drag": `<ul><li draggable=true ondragstart="event.dataTransfer.setData('text', 'one')">first</li></ul>
    <div ondragover="event.preventDefault()" ondrop="document.title = 'dropped ' + event.dataTransfer.getData('text')" role=region aria-label=Bin style="height:80px">bin</div>
    <canvas width=100 height=100 onmousedown="document.title = 'down'" onmouseup="document.title += ' up ' + event.offsetX"></canvas>
    <button onmouseenter="tip.hidden = false">Hint</button><p id=tip hidden>A tip</p>`,
  "/restless": `<style>@keyframes sway { to { transform: translateX(60px) } } .sway { animation: sway 3s alternate infinite linear }
    #icon { display: inline-block } #icon:hover { content: url(/slow.svg) }</style>
    <button class=sway onclick="document.title += ' caught'">Sway</button><p><span id=icon tabindex=0 aria-label=Icon role=button onclick="document.title += ' icon'">...</span></p>
    <div style="position:relative"><button class=sway>Under</button><div style="position:absolute;inset:0;background:#fff">A lid</div></div>`,
  "/slow.svg": async () => {
    await Bun.sleep(200);
    const square =
      '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40"/></svg>';
    return new Response(square, { headers: { "content-type": "image/svg+xml" } });
  },
  "/drawing": `<svg width=200 height=200 onmousemove="if (event.buttons) path.push(event.offsetX + ',' + event.offsetY); else document.title = 'over ' + event.offsetX"
    onmouseup="document.title = path.join(' ')"><rect width=200 height=200 fill=white /><text x=20 y=40 fill=red>A</text></svg><script>const path = []</script>`,
  "/files": `<input type=file aria-label=File onchange="document.title = [...this.files].map((file) => file.name + file.size).join()">
    <button onclick="document.querySelector('input').click()">Choose</button><a href="/data.csv">Data</a>
    <button onclick="location = '/report'">Report</button>`,
  "/data.csv": () => new Response("a,b\n1,2\n", { headers: { "content-type": "text/plain" } }),
  "/report": () => new Response("report", { headers: { "content-disposition": "attachment; filename=report.txt" } }),
  "/says": `<form onsubmit="said.textContent = 'Saved as MH-7'; return false"><input required aria-label=Mail type=email><button>Save</button></form>
    <p role=status id=said>Ready</p><p role=alert hidden>never shown</p><button onclick="document.title = 'x'">Quiet</button>`,
  "/asks": `<button onclick="go()">Ask</button><p id=said></p><button onclick="fetch('/answer').then(() => { location = '/two' })">Leave</button>
    <script>async function go() { const one = await (await fetch('/answer')).text(); said.textContent = one + await (await fetch('/answer')).text() }</script>`,
  "/answer": async () => {
    await Bun.sleep(400);
    return new Response("here");
  },
  "/named": () =>
    new Response("x", {
      headers: { "content-type": "text/plain", "content-disposition": 'inline; filename="autumn report.txt"' },
    }),
  "/late":
    "<script>setTimeout(() => { document.body.textContent = 'It is here' }, 300)</script><body>Wait for it</body>",
});
afterAll(() => desk[Symbol.asyncDispose]());

const page = () => desk.browsing().active().page;
const title = () => page().title();
let seen = "";
const ref = (words: string) => refOf(seen, words);
const see = async (path: string) => {
  seen = await desk.open(path);
};
beforeEach(async () => {
  await desk.call("go_to_url", { url: `${desk.url}/two` });
});

test("going to an address, back, forward and reloading work, and a server's refusal is reported", async () => {
  expect((await desk.call("go_to_url", { url: `${desk.url}/one` })).text).toBe(`The page is now /one "One".`);
  expect((await desk.call("go_back")).text).toBe(`The page is now /two "Two".`);
  expect((await desk.call("go_forward")).text).toBe(`The page is now /one "One".`);
  expect((await desk.call("go_forward")).text).toBe("There is no page to go forward to.");
  expect((await desk.call("refresh")).text).toContain('"One"');
  expect((await desk.call("go_to_url", { url: `${desk.url}/broken` })).text).toContain("The server answered 404.");
});

test("going back between two steps of a form at one address is told as what it is", async () => {
  await see("/steps");
  await desk.call("click_element", { ref: ref('button "Go on"') });
  expect((await desk.call("go_back")).text).toBe(`The page is now /steps "Steps".`);
  expect((await desk.call("go_forward")).text).toBe(`The page is now /steps "Steps".`);
});

test("addresses that are not http(s), and hosts that do not answer, are refused with the reason", async () => {
  for (const url of ["file:///etc/passwd", "javascript:alert(1)", "chrome://version"])
    expect(await desk.call("go_to_url", { url })).toMatchObject({
      isError: true,
      text: expect.stringContaining("http"),
    });
  expect(await desk.call("go_to_url", { url: "http://127.0.0.1:1/" })).toMatchObject({ isError: true });
});

test("a click's result says where it led: to another page, to a new tab, or nowhere", async () => {
  await see("/one");
  expect((await desk.call("click_element", { ref: ref('link "New tab"') })).text).toMatch(
    /Tab \d+ is active now: .*\/two/,
  );
  await desk.call("close_tab");
  expect((await desk.call("click_element", { ref: ref('link "Next"') })).text).toContain(`The page is now /two.`);
  await see("/form");
  expect((await desk.call("click_element", { ref: ref('button "Idle"') })).text).toBe(
    `Clicked button "Idle" [${ref('button "Idle"')}]. Nothing in the page changed.`,
  );
});

test("words that are there several times are clicked where they stand first, and the result says so", async () => {
  await see("/rows");
  const list = ref("list ");
  const clicked = async (text: string) => (await desk.call("click_element", { ref: list, text })).text;
  expect(await clicked("Buy")).toContain(", the first of 2 such places.");
  expect(await desk.browsing().active().page.title()).toBe("Ann");
  expect(await clicked("Sell")).toMatch(/^Clicked "Sell" in [^.]*\.(?! the first)/);
});

test("a menu that opens under the mouse is a change, and its entry of the page stands in it as before", async () => {
  await see("/hover");
  const { mark } = await desk.see();
  const products = ref('link "Products"');
  expect((await desk.call("click_element", { ref: products })).text).toBe(`Clicked link "Products" [${products}].`);
  const told = (await desk.seeSince(mark))?.text;
  expect(told).toMatch(/^ *\+ .*link "Lamps"/m);
  expect(told).toMatch(new RegExp(`^ +link "Products" \\[focused\\] \\[${products}\\]$`, "m"));
  expect(told).not.toContain("order now");
});

test("what a click makes a page ask its server for is waited for before the page is said not to have changed", async () => {
  await see("/asks");
  const asked = ref('button "Ask"');
  expect((await desk.call("click_element", { ref: asked })).text).toBe(`Clicked button "Ask" [${asked}].`);
  expect((await desk.see()).text).toContain("herehere");
  const left = ref('button "Leave"');
  const { text } = await desk.call("click_element", { ref: left });
  expect(text).toBe(`Clicked button "Leave" [${left}]. The page is now /two.`);
});

test("a click that changes the look alone is told, as the page's text does not show it", async () => {
  await see("/hours");
  const clicked = async (name: string) => (await desk.call("click_element", { ref: ref(`button "${name}"`) })).text;
  expect(await clicked("9:00")).toEndWith("]. The look of something in the page changed.");
  expect(await clicked("10:00")).toEndWith("]. The look of something in the page changed.");
  expect(await clicked("11:00")).toEndWith("].");
});

test("text replaces a field's contents, is appended, empties it, and is submitted with Enter", async () => {
  await see("/form");
  const name = ref('textbox "Name"');
  await desk.call("input_text", { ref: name, text: "Ann" });
  await desk.call("input_text", { ref: name, text: " B", clear: false, submit: true });
  expect(await title()).toContain("name=Ann+B&");
  await desk.call("input_text", { ref: name, text: "", submit: true });
  expect(await title()).toContain("name=&");
  expect((await desk.call("input_text", { ref: ref('textbox "Day"'), text: "31.1.2026" })).text).toContain(
    "is written like 2026-01-31",
  );
  expect(await desk.call("input_text", { ref: ref('button "Send"'), text: "x" })).toMatchObject({
    isError: true,
    text: expect.stringMatching(/takes no text.*browser_select_dropdown_option/),
  });
});

test("a form is filled in one call, and if a field fails, the result says what was done before", async () => {
  await see("/form");
  const fields = [
    { ref: ref('textbox "Name"'), value: "Eve" },
    { ref: ref('textbox "Day"'), value: "2026-02-03" },
    { ref: ref('checkbox "Agree"'), value: true },
    { ref: ref('combobox "Size"'), value: "Large" },
  ];
  expect((await desk.call("fill_form", { fields })).text).toMatch(/^Set textbox "Name" .* to "Large"\.$/);
  await desk.call("click_element", { ref: ref('button "Send"') });
  expect(await title()).toBe("sent name=Eve&about=&day=2026-02-03&ok=on&size=l");
  const wrong = [
    { ref: ref('textbox "About"'), value: "x" },
    { ref: ref('combobox "Size"'), value: "Medium" },
  ];
  const { text, isError } = await desk.call("fill_form", { fields: wrong });
  expect(isError).toBe(true);
  expect(text).toContain('Set textbox "About"');
  expect(text).toContain('has no option "Medium". It has:');
  expect(text).toContain('/form">\n"Small", "Large", "Huge"\n</web-content>');
  const fixed = [
    { ref: ref('textbox "About"'), value: "y" },
    { ref: ref('textbox "Fixed"'), value: "x" },
  ];
  expect((await desk.call("fill_form", { fields: fixed })).text).toMatch(
    /Then textbox "Fixed" \[e\d+\] failed, and the fields after it were left: textbox "Fixed" \[e\d+\] is read-only\. Click it,/,
  );
});

test("an element that cannot be acted on gives the reason", async () => {
  await see("/form");
  expect((await desk.call("click_element", { ref: ref('button "Never"') })).text).toContain("is disabled");
  await see("/cover");
  expect((await desk.call("click_element", { ref: ref('button "Below"') })).text).toContain(
    'is covered by a div element that reads "Accept our cookies"',
  );
  expect(await title()).toBe("");
  await see("/framed");
  expect((await desk.call("click_element", { ref: ref('button "Within"') })).text).toContain(
    'is covered by a div element that reads "Accept our cookies"',
  );
});

test("dropdowns are listed and chosen from, the browser's own and those a page draws", async () => {
  await see("/form");
  const size = ref('combobox "Size"');
  expect((await desk.call("get_dropdown_options", { ref: size })).text).toContain(
    "- Small [selected]\n- Large\n- Huge [disabled]",
  );
  expect((await desk.call("select_dropdown_option", { ref: size, text: "large" })).text).toStartWith('Chose "Large"');
  expect((await desk.call("select_dropdown_option", { ref: size, text: "Huge" })).text).toContain("is disabled");
  await see("/keys");
  expect((await desk.call("select_dropdown_option", { ref: ref('combobox "Colour"'), text: "Blue" })).text).toStartWith(
    'Chose "Blue"',
  );
  expect(await title()).toBe("Blue");
});

test("keys held down while clicking add to what is chosen", async () => {
  await see("/many");
  await desk.call("click_element", { ref: ref('option "Red"') });
  await desk.call("click_element", { ref: ref('option "Blue"'), holding: ["Control"] });
  expect(await title()).toBe("Red,Blue");
});

test("typing reaches pages that wait for keys, and keys and chords are pressed", async () => {
  await see("/keys");
  await desk.call("input_text", { ref: ref('textbox "Find"'), text: "abc" });
  expect((await desk.see()).text).toContain("hint for abc");
  await desk.call("send_keys", { keys: "ctrl+a Backspace" });
  expect((await desk.see()).text).not.toMatch(/textbox "Find".*abc/);
  expect(await desk.call("send_keys", { keys: "hello" })).toMatchObject({
    isError: true,
    text: expect.stringContaining("browser_input_text"),
  });
});

test("words in an element are clicked, and text far away is scrolled to", async () => {
  await see("/text");
  expect((await desk.call("click_element", { ref: ref("Read the terms first"), text: "the terms" })).isError).toBe(
    false,
  );
  expect(await title()).toBe("terms");
  expect((await desk.call("scroll_to_text", { text: "Far away" })).text).toBe('Scrolled to "Far away".');
  expect(await page().evaluate("scrollY")).toBeGreaterThan(1_000);
  expect((await desk.call("scroll_to_text", { text: "Nowhere" })).isError).toBe(true);
});

test("the page and its parts are scrolled, and the result says how much is left", async () => {
  await see("/text");
  expect((await desk.call("scroll_down")).text).toMatch(
    /^Scrolled down by 800 px; 800 px are above and \d+ px below\.$/,
  );
  expect((await desk.call("scroll_up", { amount: 10_000 })).text).toStartWith("Scrolled up by 800 px; 0 px are above");
  expect((await desk.call("scroll_up")).text).toStartWith("Nothing scrolled: this is the top.");
  const box = refOf((await desk.call("snapshot", { find: "Box" })).text, 'region "Box"');
  expect((await desk.call("scroll_down", { ref: box, amount: 100 })).text).toStartWith(
    "Scrolled down by 100 px; 100 px are above",
  );
});

test("things are dragged by ref and by point, hovered and clicked at a point", async () => {
  await see("/drag");
  await desk.call("drag", { from: ref("first"), to: ref('region "Bin"') });
  expect(await title()).toBe("dropped one");
  const { x, y } = (await page().evaluate(
    "(({ x, y }) => ({ x, y }))(document.querySelector('canvas').getBoundingClientRect())",
  )) as { x: number; y: number };
  await desk.call("drag", {
    from: `${Math.ceil(x) + 10},${Math.ceil(y) + 10}`,
    to: `${Math.ceil(x) + 60},${Math.ceil(y) + 10}`,
  });
  expect(await title()).toMatch(/^down up (?:59|60|61)$/);
  await desk.call("click_at", { x: x + 20, y: y + 20 });
  expect(await title()).toMatch(/^down up (?:19|20)$/);
  await desk.call("hover", { ref: ref('button "Hint"') });
  expect((await desk.see()).text).toContain("A tip");
  expect((await desk.call("click_at", { x: 5_000, y: 5 })).text).toContain("outside the window");
});

test("the mouse moves onto an element before the click, so that one that changes on hover is hit; one that never stops moving is clicked where it is", async () => {
  await see("/restless");
  await desk.call("click_element", { ref: ref('button "Icon"') });
  expect(await title()).toEndWith("icon");
  await desk.call("click_element", { ref: ref('button "Sway"') });
  expect(await title()).toEndWith("caught");
  const covered = await desk.call("click_element", { ref: ref('button "Under"') });
  expect(covered).toMatchObject({ isError: true, text: expect.stringContaining("A lid") });
  expect((await desk.call("hover", { ref: ref('button "Sway"') })).text).toStartWith('The mouse is on button "Sway"');
});

test("a word in a drawing is listed with its place, the mouse moves to a point, and drags through points", async () => {
  await see("/drawing");
  expect(seen).toMatch(/text "A" \[e\d+\]: \d+×\d+ px at \d+,\d+, red/);
  const { x, y } = (await page().evaluate(
    "(({ x, y }) => ({ x, y }))(document.querySelector('svg').getBoundingClientRect())",
  )) as { x: number; y: number };
  const at = (dx: number, dy: number) => `${x + dx},${y + dy}`;
  await desk.call("hover", { ref: at(50, 60) });
  expect(await title()).toBe("over 50");
  const { text } = await desk.call("drag", { from: at(20, 20), through: [at(100, 30), at(40, 150)], to: at(10, 10) });
  expect(text).toContain("through 2 points");
  const path = (await title()).split(" ");
  for (const point of ["100,30", "40,150", "10,10"]) expect(path).toContain(point);
});

test("files of the workspace are uploaded through a file field or a button; other files are refused", async () => {
  await Bun.write(join(desk.workspace.root, "notes.txt"), "12345");
  await see("/files");
  expect((await desk.call("upload", { ref: ref('button "File"'), paths: ["notes.txt"] })).text).toStartWith(
    "Gave notes.txt",
  );
  expect(await title()).toBe("notes.txt5");
  await page().evaluate("document.title = ''");
  await desk.call("upload", { ref: ref('button "Choose"'), paths: ["notes.txt"] });
  expect(await title()).toBe("notes.txt5");
  expect((await desk.call("upload", { ref: ref('button "File"'), paths: ["/etc/passwd"] })).text).toContain(
    "outside the workspace",
  );
});

test("downloads land in the workspace, also of what the browser would show", async () => {
  await see("/files");
  const shown = await desk.call("download", { ref: ref('link "Data"') });
  expect(shown.text).toMatch(/A file was downloaded to downloads\/data[^ ]*\.csv/);
  expect(page().url()).toBe(`${desk.url}/files`);
  expect((await desk.call("download", { ref: ref('button "Report"') })).text).toContain("downloads/report.txt");
  expect((await desk.call("download", { url: `${desk.url}/data.csv` })).text).toContain("downloaded to");
  expect(await Bun.file(join(desk.workspace.root, "downloads/report.txt")).text()).toBe("report");
});

test("the page is kept as a picture and as a PDF", async () => {
  await see("/text");
  const { text, images } = await desk.call("screenshot", { full_page: true, path: "page.png" });
  expect(text).toContain(" as page.png (");
  expect(images?.[0]?.mediaType).toBe("image/png");
  expect((await desk.call("pdf", { path: "page.pdf" })).text).toStartWith("Kept the page as page.pdf");
  expect(await readdir(desk.workspace.root)).toEqual(expect.arrayContaining(["page.png", "page.pdf"]));
  // No file says that it is what it is not.
  for (const [name, ending] of [
    ["screenshot", ".png"],
    ["pdf", ".pdf"],
  ] as const)
    expect((await desk.call(name, { path: "page.txt" })).text).toContain(`The file's name has to end in ${ending}`);
  expect((await Bun.file(join(desk.workspace.root, "page.pdf")).text()).slice(0, 5)).toBe("%PDF-");
});

test("tabs are opened, switched between and closed by number", async () => {
  const first = desk.browsing().active().id;
  expect((await desk.call("open_tab", { url: `${desk.url}/one` })).text).toMatch(
    /^Opened tab \d+\. The page is now .*\/one/,
  );
  expect((await desk.see()).text).toContain(`Tabs: ${first} ${desk.url}/two; `);
  expect((await desk.call("switch_tab", { tab_id: first })).text).toStartWith(`Tab ${first} is active now`);
  expect((await desk.call("close_tab", { tab_id: 999 })).isError).toBe(true);
  expect((await desk.call("close_tab", { tab_id: first })).text).toStartWith(`Closed tab ${first}.`);
});

test("waiting ends after its time, or when a text appears or disappears, and says what did not appear", async () => {
  await see("/late");
  expect((await desk.call("wait", { text: "It is here" })).text).toMatch(/^"It is here" is on the page after/);
  expect((await desk.call("wait", { gone: "Wait for it" })).text).toMatch(/is gone after/);
  expect((await desk.call("wait", { seconds: 0 })).text).toBe("Waited 0 s.");
  expect((await desk.call("wait", { text: "Never", seconds: 0.3 })).text).toContain("did not appear after 0.3 s");
  expect((await desk.call("wait", { seconds: 3600 })).isError).toBe(true);
});

test("an answer without a dialog is refused", async () => {
  expect(await desk.call("handle_dialog", { accept: true })).toMatchObject({ isError: true });
});

test("a file is saved under the name its server gives it, even if the browser would display it", async () => {
  const { text } = await desk.call("download", { url: `${desk.url}/named` });
  expect(text).toContain("autumn report.txt");
  expect(await readdir(desk.workspace.root, { recursive: true })).toContainEqual(
    expect.stringMatching(/autumn report\.txt$/),
  );
});

test("selecting and copying are reported as changes", async () => {
  await see("/keys");
  await desk.call("click_element", { ref: ref("Find") });
  await desk.call("input_text", { ref: ref("Find"), text: "words" });
  expect((await desk.call("send_keys", { keys: "Control+a" })).text).toBe("Pressed Control+a.");
  expect((await desk.call("send_keys", { keys: "Control+c" })).text).toBe(
    "Pressed Control+c. Something was copied to the clipboard.",
  );
  await see("/two");
  expect((await desk.call("send_keys", { keys: "Shift" })).text).toContain("Nothing in the page changed.");
});

test("the result of an action has the page's response: alerts, states and field errors, and nothing that was there before", async () => {
  await see("/says");
  const save = () => desk.call("click_element", { ref: ref('button "Save"') });
  expect((await save()).text).toMatch(/The page says:\n<web-content from="http:[^"]+">\nMail: .+\n<\/web-content>/);
  await desk.call("input_text", { ref: ref("Mail"), text: "ann@example.com" });
  const { text } = await save();
  expect(text).toMatch(/<web-content from="[^"]+">\nSaved as MH-7\n<\/web-content>/);
  expect(text).not.toContain("never shown");
  expect((await desk.call("click_element", { ref: ref('button "Quiet"') })).text).not.toContain("The page says");
});
