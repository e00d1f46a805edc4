import { afterAll, beforeEach, expect, test } from "bun:test";
import { readdir, truncate } from "node:fs/promises";
import { join } from "node:path";
import { refOf, startDesk } from "../../../testing/browser/desk.ts";

const options = (count: number) => Array.from({ length: count }, (_, n) => `<option value=v${n}>Entry ${n}`).join("");
const html = (body: string) => new Response(body, { headers: { "content-type": "text/html" } });
const desk = await startDesk({
  "/blank": "<title>Blank</title><p>Nothing here</p>",
  "/log": `<body onkeydown="add(...keys.filter((key) => event[key + 'Key']), event.code === 'Space' ? 'Space' : event.key)"><script>
      const keys = ["ctrl", "meta", "alt"], log = []; const add = (...parts) => { log.push(parts.join("-")); document.title = log.join(" ") }
      addEventListener("keydown", (event) => event.preventDefault())</script>
    <button onclick="add('click', event.detail, event.altKey)" ondblclick="add('double')" onauxclick="add('aux', event.button)"
      oncontextmenu="return false">Press</button>`,
  "/fields": `<form><input aria-label=Short maxlength=3><input aria-label=Secret type=password oninput="this.value = 'hunter22'"><input aria-label=Count type=number>
    <input aria-label=Name value=old><input type=checkbox aria-label=News checked><input type=checkbox aria-label=Terms><div role=switch tabindex=0 aria-checked=false aria-label=Dark onclick="this.ariaChecked = this.ariaChecked !== 'true'">o</div>
    <select aria-label=Size><option value=small>Large<option value=Large>Huge   one</select><select aria-label=Long>${options(310)}</select></form>`,
  "/menus": `<div role=combobox tabindex=0 aria-label=Colour onclick="box.hidden = !box.hidden">pick</div>
    <div role=menu id=box hidden><div role=menuitem onclick="document.title = 'item'">Copy</div><div role=option onclick="document.title = 'option'">Paste</div></div>
    <select aria-label=Empty></select>`,
  "/files": `<input type=file multiple aria-label=File onchange="document.title = [...this.files].map((file) => file.name + file.size + file.type).join()"><a href="/moved">Moved</a><a href="/gone">Gone</a>`,
  "/moved": () => Response.redirect("/named", 302),
  "/named": () =>
    new Response("x,y", {
      headers: { "content-type": "text/html", "content-disposition": "inline; filename=moved.csv" },
    }),
  "/gone": () => new Response("<h1>Gone</h1>", { status: 404, headers: { "content-type": "text/html" } }),
  "/attached": () => new Response("data", { headers: { "content-disposition": "attachment; filename=attached.bin" } }),
  "/ask": `<button onclick="document.title = prompt('Your \\u003cb>name\\u003c/b>?', 'Bob')">Ask</button><select aria-label=Size><option>S</select>`,
  "/tall": `<title>Tall
    page</title><body style="margin:0"><div id=part role=region aria-label=Part style="width:120px;height:40px">part</div><p>twice</p><p>twice</p><div style="height:2000px"></div><p>end of it</p>`,
  "/noise": `<body style="margin:0"><canvas width=1280 height=430></canvas><script>const c = document.querySelector("canvas").getContext("2d"), d = c.createImageData(1280, 430)
    for (let at = 0; at < d.data.length; at += 65536) crypto.getRandomValues(d.data.subarray(at, Math.min(at + 65536, d.data.length))); for (let at = 3; at < d.data.length; at += 4) d.data[at] = 255; c.putImageData(d, 0, 0)</script>`,
  "/drag": `<div style="height:1500px"></div><button onmousedown="document.title = 'down'">Handle</button><button id=goal>Goal</button>
    <script>addEventListener("mouseup", () => { document.title += " up" })</script>`,
  "/framed": `<title>Framed</title><iframe srcdoc="<p style='margin-top:900px'>far inside</p>"></iframe><p>Only here</p>`,
  "/error": () => html(`<title>${"long title ".repeat(20)}</title>`),
});
afterAll(() => desk[Symbol.asyncDispose]());

const page = () => desk.browsing().active().page;
const title = () => page().title();
let seen = "";
const ref = (words: string) => refOf(seen, words);
const see = async (path: string) => {
  seen = await desk.open(path);
};
const textOf = async (name: string, input: Record<string, unknown> = {}) => (await desk.call(name, input)).text;
const refused = async (name: string, input: Record<string, unknown> = {}) => {
  const { text, isError } = await desk.call(name, input);
  return isError ? text : `it did not fail: ${text}`;
};
beforeEach(async () => {
  await desk.call("go_to_url", { url: `${desk.url}/blank` });
});

test("keys are pressed by the names people use for them, alone and in chords, and the first unknown one ends it", async () => {
  await see("/log");
  const keys = "ctrl+a cmd+b Alt+c esc return del up down left right pgup pgdn spacebar ctrl++ q";
  expect(await textOf("send_keys", { keys })).toStartWith(`Pressed ${keys}.`);
  expect(await title()).toBe(
    "ctrl-Control ctrl-a meta-Meta meta-b alt-Alt alt-c Escape Enter Delete ArrowUp ArrowDown ArrowLeft ArrowRight PageUp PageDown Space ctrl-Control ctrl-+ q",
  );
  await page().evaluate("log.length = 0");
  expect(await refused("send_keys", { keys: "x nokey y" })).toStartWith('There is no key "nokey". Keys are Enter,');
  expect(await title()).toBe("x");
});

test("an element and a point are clicked once, twice or three times, with any button, with keys held", async () => {
  await see("/log");
  const target = ref('button "Press"');
  const box = await page().locator("button").boundingBox();
  const at = { x: Math.ceil(box?.x ?? 0) + 5, y: Math.ceil(box?.y ?? 0) + 5 };
  const cases: readonly [string, Record<string, unknown>, string, string][] = [
    ["click_element", { ref: target, clicks: 2 }, "Double-clicked", "click-1-false click-2-false double"],
    ["click_element", { ref: target, clicks: 3 }, "Triple-clicked", "click-1-false click-2-false double click-3-false"],
    ["click_element", { ref: target, button: "right" }, "Clicked", "aux-2"],
    ["click_element", { ref: target, button: "middle" }, "Clicked", "aux-1"],
    ["click_element", { ref: target, holding: ["Alt"] }, "Clicked", "alt-Alt click-1-true"],
    ["click_at", { ...at, clicks: 2 }, `Clicked at ${at.x},${at.y}.`, "click-1-false click-2-false double"],
    ["click_at", { ...at, button: "right" }, "Clicked at", "aux-2"],
  ];
  for (const [tool, input, said, logged] of cases) {
    await page().evaluate("log.length = 0");
    expect({ input, said: await textOf(tool, input) }).toEqual({ input, said: expect.stringContaining(said) });
    expect({ input, logged: await title() }).toEqual({ input, logged });
  }
  expect(await refused("click_element", { ref: target, text: "other words" })).toContain(
    `button "Press" [${target}] does not hold the words "other words". Look again.`,
  );
});

test("a field that changes or refuses its value is told as what it holds, a password never", async () => {
  await see("/fields");
  const short = ref('textbox "Short"');
  expect(await textOf("input_text", { ref: short, text: "abcdef" })).toStartWith(
    `Wrote into textbox "Short" [${short}], which holds "abc" now.`,
  );
  const secret = ref('textbox "Secret"');
  expect(await textOf("input_text", { ref: secret, text: "guess" })).toStartWith(
    `Wrote into textbox "Secret" [${secret}].`,
  );
  const name = ref('textbox "Name"');
  expect(await textOf("input_text", { ref: name, text: "Ann", submit: true })).toStartWith(
    `Wrote into textbox "Name" [${name}], and pressed Enter.`,
  );
});

test("each kind of field is set in its own words, and a value that it cannot have is refused with the values it can", async () => {
  await see("/fields");
  const [news, terms, dark, size] = ['checkbox "News"', 'checkbox "Terms"', 'switch "Dark"', 'combobox "Size"'].map(
    ref,
  );
  const set = (field: string | undefined, value: string | boolean) =>
    textOf("fill_form", { fields: [{ ref: field, value }] });
  expect(await set(news, "off")).toBe(`Set checkbox "News" [${news}] to unchecked.`);
  expect(await set(terms, "Yes")).toBe(`Set checkbox "Terms" [${terms}] to checked.`);
  expect(await set(dark, true)).toBe(`Set switch "Dark" [${dark}] to checked.`);
  expect(await page().evaluate("[...document.querySelectorAll('[type=checkbox]')].map((box) => box.checked)")).toEqual([
    false,
    true,
  ]);
  expect(await page().evaluate("document.querySelector('[role=switch]').ariaChecked")).toBe("true");
  expect(await set(terms, "")).toEndWith("to unchecked.");
  expect(await set(terms, "maybe")).toBe(`checkbox "Terms" [${terms}] is a checkbox; its value is true or false.`);
  const name = ref('textbox "Name"');
  expect(await set(name, true)).toBe(`textbox "Name" [${name}] is not a checkbox; its value has to be a text.`);
  expect(await page().inputValue("[aria-label=Name]")).toBe("old");
  // An entry's text comes before another's value.
  expect(await set(size, "large")).toEndWith('to "Large".');
  expect(await page().inputValue("[aria-label=Size]")).toBe("small");
  expect(await set(size, " HUGE  One ")).toEndWith('to "Huge one".');
  expect(await set(size, "SMALL")).toEndWith('to "Large".');
  const refusal = await set(ref('combobox "Long"'), "None");
  expect(refusal).toContain('"Entry 29" and 280 more\n</web-content>');
  expect(refusal).not.toContain('"Entry 30"');
});

test("a long dropdown is listed up to a bound, an empty and a closed one are told as such, and any entry that a page draws is chosen", async () => {
  await see("/fields");
  const long = ref('combobox "Long"');
  const listed = await textOf("get_dropdown_options", { ref: long });
  expect(listed).toStartWith(`combobox "Long" [${long}] has 310 entries:\n<web-content from="${desk.url}`);
  expect(listed).toEndWith("- Entry 299\n… 10 more\n</web-content>");
  await see("/menus");
  const colour = ref('combobox "Colour"');
  const empty = ref('combobox "Empty"');
  expect(await textOf("get_dropdown_options", { ref: empty })).toBe(`combobox "Empty" [${empty}] has no entries.`);
  expect(await textOf("get_dropdown_options", { ref: colour })).toEndWith(
    "shows no entries. Click it to open it, then look.",
  );
  const missing = await refused("select_dropdown_option", { ref: colour, text: "Cut" });
  expect(missing).toContain(`combobox "Colour" [${colour}] has no entry "Cut". It shows:`);
  expect(missing).toContain('\n"Paste"\n</web-content>');
  // It is open now, and a click would close it.
  expect(await textOf("get_dropdown_options", { ref: colour })).toContain("has 1 entry:");
  expect(await textOf("select_dropdown_option", { ref: colour, text: "Copy" })).toStartWith('Chose "Copy"');
  expect(await title()).toBe("item");
  expect(await textOf("select_dropdown_option", { ref: colour, text: "Paste" })).toStartWith('Chose "Paste"');
  expect(await title()).toBe("option");
});

test("several files are uploaded with their types, and none when they are too large together", async () => {
  const { root } = desk.workspace;
  await Bun.write(join(root, "a.txt"), "12345");
  await Bun.write(join(root, "b.csv"), "1,2");
  await see("/files");
  const field = ref('button "File"');
  expect(await textOf("upload", { ref: field, paths: ["a.txt", "b.csv"] })).toStartWith("Gave a.txt, b.csv to");
  expect(await title()).toBe("a.txt5text/plain,b.csv3text/csv");
  await Bun.write(join(root, "big.bin"), "");
  await truncate(join(root, "big.bin"), 50 * 1024 ** 2 - 4);
  await page().evaluate("document.title = ''");
  expect(await refused("upload", { ref: field, paths: ["a.txt", "big.bin"] })).toBe(
    "The files are larger than 50 MB together.",
  );
  expect(await title()).toBe("");
});

test("a download follows redirects and keeps the name, a refusal by the server is told, and an address that is a file leaves the page", async () => {
  await see("/files");
  expect(await textOf("download", { ref: ref('link "Moved"') })).toContain(
    "A file was downloaded to downloads/moved.csv",
  );
  expect(await refused("download", { ref: ref('link "Gone"') })).toBe(
    "The address gave no file: the server answered 404.",
  );
  expect(page().url()).toBe(`${desk.url}/files`);
  for (const input of [{}, { ref: ref('link "Moved"'), url: `${desk.url}/named` }])
    expect(await refused("download", input)).toBe("Give either ref or url.");
  const { text, isError } = await desk.call("go_to_url", { url: `${desk.url}/attached` });
  expect(isError).toBe(false);
  expect(text).toStartWith("The address is a file: it is downloaded, and the page stays.");
  const told = text + (await textOf("wait", { seconds: 0.3 }));
  expect(told).toContain("A file was downloaded to downloads/attached.bin");
  expect(page().url()).toBe(`${desk.url}/files`);
  expect(await readdir(join(desk.workspace.root, "downloads"))).toEqual(
    expect.arrayContaining(["moved.csv", "attached.bin"]),
  );
});

test("a question that opens is told by the act, holds up what needs the page, and takes the answer", async () => {
  await see("/ask");
  const [ask, size] = [ref('button "Ask"'), ref('combobox "Size"')];
  const asked = `It says:\n<web-content from="${desk.url}">\nYour <b>name</b>?\n</web-content>`;
  expect(await textOf("click_element", { ref: ask })).toBe(
    `Clicked button "Ask" [${ask}]. A prompt dialog opened and holds the page up, its default answer is "Bob". Answer it with browser_handle_dialog. ${asked}`,
  );
  for (const [tool, input] of [
    ["screenshot", {}],
    ["pdf", {}],
    ["get_dropdown_options", { ref: size }],
    ["snapshot", { expand: size }],
  ] as const)
    expect({ tool, text: await refused(tool, input) }).toEqual({
      tool,
      text: expect.stringContaining("browser_handle_dialog"),
    });
  expect(await textOf("snapshot")).toContain('A prompt dialog holds the page up, its default answer is "Bob".');
  expect(await textOf("handle_dialog", { accept: true, text: "Ada" })).toStartWith("Accepted the prompt dialog.");
  expect(await title()).toBe("Ada");
});

test("a picture is of the element, the window or the page, and one too large to show is only kept", async () => {
  const size = async (input: Record<string, unknown>) => {
    const { images } = await desk.call("screenshot", input);
    const png = Buffer.from(images?.[0]?.data ?? "", "base64");
    return png.length === 0 ? "none" : `${png.readUInt32BE(16)}×${png.readUInt32BE(20)}`;
  };
  await see("/tall");
  expect(await size({ ref: ref('region "Part"') })).toBe("120×40");
  expect(await size({})).toBe("1280×800");
  expect(await size({ full_page: true })).toMatch(/^1280×21\d\d$/);
  await see("/noise");
  const { text, images, isError } = await desk.call("screenshot");
  expect({ images, isError }).toEqual({ images: undefined, isError: false });
  expect(text).toMatch(
    /^Kept a picture of the window at http\S+\/noise, 1280 × 800 pixels, as screenshots\/[\dT-]+\.png \(\d{7} bytes\)\. It is too large to be shown here\.$/,
  );
  expect(await textOf("pdf")).toMatch(/^Kept the page as page-[\dT-]+\.pdf \(\d+ bytes\)\.$/);
});

test("a drag scrolls to what is dragged, and lets go of the mouse when it fails", async () => {
  await see("/drag");
  const handle = refOf(await textOf("snapshot", { find: "Handle" }), 'button "Handle"');
  const goal = refOf(await textOf("snapshot", { find: "Goal" }), 'button "Goal"');
  expect(await textOf("drag", { from: handle, to: goal })).toStartWith(
    `Dragged button "Handle" [${handle}] to button "Goal" [${goal}].`,
  );
  expect(await title()).toBe("down up");
  expect(await page().evaluate("scrollY")).toBeGreaterThan(500);
  await page().evaluate("document.title = ''");
  expect(await refused("drag", { from: handle, to: "5000,10" })).toContain("The point 5000,10 is outside the window");
  expect(await title()).toBe("down up");
});

test("a text is scrolled to where it first is, also in a frame, and the end of a page is told", async () => {
  await see("/tall");
  expect(await textOf("go_to_url", { url: `${desk.url}/tall` })).toBe('The page is now /tall "Tall page".');
  expect(await textOf("scroll_to_text", { text: "twice" })).toBe('Scrolled to "twice", the first of 2 places.');
  await desk.call("scroll_down", { amount: 9_000 });
  expect(await textOf("scroll_down")).toMatch(
    /^Nothing scrolled: this is the end\. \d+ px are above and 0 px below\.$/,
  );
  await see("/framed");
  expect(await textOf("scroll_to_text", { text: "far inside" })).toBe('Scrolled to "far inside".');
  expect(await textOf("wait", { text: "far inside", seconds: 0.2 })).toStartWith('"far inside" is on the page after');
  expect(await refused("wait", { gone: "Only here", seconds: 0.2 })).toBe(
    '"Only here" is still on the page after 0.2 s. Look at the page.',
  );
  const long = await textOf("go_to_url", { url: `${desk.url}/error` });
  expect(long).toBe(`The page is now /error ${JSON.stringify("long title ".repeat(20).slice(0, 100))}.`);
});

test("a snapshot shows a part, the whole from a line on, or the places of a text, and what is not there is told", async () => {
  await see("/fields");
  expect(await textOf("snapshot", { find: "nowhere" })).toEndWith('\n"nowhere" is not on the page.');
  const whole = await textOf("snapshot", { full: true });
  const later = await textOf("snapshot", { full: true, from: 3 });
  expect(whole).toContain('textbox "Short"');
  expect(later).not.toContain('textbox "Short"');
  expect(later).toContain('textbox "Name"');
  expect(await textOf("snapshot", { full: true, from: 900 })).toContain("is from 900 on.");
  const size = ref('combobox "Size"');
  expect(await textOf("snapshot", { expand: size })).not.toContain('textbox "Name"');
  expect(await refused("snapshot", { expand: "e99999" })).toBe(
    "e99999 is no longer on the page, or nothing is in it. Look again and use the new refs.",
  );
});

test("without a number the active tab is closed, and the one that becomes active is told", async () => {
  const first = desk.browsing().active().id;
  await desk.call("open_tab", { url: `${desk.url}/tall` });
  const second = desk.browsing().active().id;
  expect(await textOf("close_tab")).toBe(`Closed tab ${second}. Tab ${first} is active now: ${desk.url}/blank.`);
  expect(await textOf("switch_tab", { tab_id: first })).toBe(`Tab ${first} is active now: ${desk.url}/blank.`);
});
