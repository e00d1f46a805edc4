import { afterAll, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { refOf, startDesk } from "../../../testing/browser/desk.ts";

const desk = await startDesk({
  "/boxes": `<style>.away{position:absolute;width:1px;height:1px;clip:rect(0 0 0 0);overflow:hidden} label{cursor:pointer}</style>
    <input type=radio name=s id=a class=away><label for=a>Small</label> <label><input type=checkbox class=away><i>✓</i> News</label>
    <input type=checkbox id=d style="display:none"><label for=d>Dark</label><input type=checkbox id=p><label for=p>Plain</label>
    <fieldset disabled><input type=checkbox id=x style="display:none"><label for=x>Never</label></fieldset>`,
  "/sliders": `<label>Volume <input type=range max=50 step=5 value=10></label><div role=slider tabindex=0 aria-label=Price aria-valuemin=20 aria-valuemax=900
    aria-valuenow=20 onkeydown="const by = { ArrowRight: 5, ArrowLeft: -5, PageUp: 50, PageDown: -50 }[event.key]; if (by) setTimeout(() => this.ariaValueNow = +this.ariaValueNow + by)">-o-</div>
    <div role=slider tabindex=0 aria-label=Dead aria-valuenow=1>-o-</div>`,
  "/files": `<input type=file aria-label=Scan><label style="cursor:pointer;border:1px solid">Add a picture<input type=file hidden></label>
    <input type=file hidden id=f><button onclick="f.click()">Attach</button>`,
  "/drawing": `<svg width=300 height=100><g style="cursor:pointer" onclick="1"><title>Germany</title><rect width=90 height=90 /></g>
    <g style="cursor:pointer" onclick="1" transform="translate(100)"><rect width=90 height=90 fill=blue /><text y=50 fill=white>France</text></g>
    <g aria-label=Spain><circle cx=250 cy=40 r=20 onclick="1" fill=red /></g></svg><div style="cursor:pointer" onclick="1"><b>Card</b> <i>of Ann</i></div>`,
  "/calendar": `<table role=grid><tr><td role=gridcell aria-selected=true><button>1</button><td role=gridcell><button>2</button></table>
    <table><tr><td>Quantity<td><input aria-label="How many"></table>`,
});
afterAll(() => desk[Symbol.asyncDispose]());

const page = () => desk.browsing().active().page;
const linesOf = (text: string) => text.split("\n").filter((line) => /^ *[-+~] /.test(line));
/** The lines of a page, without refs. */
const open = async (path: string) => {
  const seen = await desk.open(path);
  return { seen, lines: linesOf(seen.replaceAll(/ \[e\d+\]/g, "")), refTo: (words: string) => refOf(seen, words) };
};
const done = async (name: string, input: Record<string, unknown>) => (await desk.call(name, input)).text;

test("a box that a page hides to draw it anew is told as one line, checked by a click, and set in a form", async () => {
  const { lines, refTo } = await open("/boxes");
  expect(lines).toEqual([
    '- radio "Small"',
    '- checkbox "✓ News"',
    '- checkbox "Dark"',
    '- checkbox "Plain"',
    '- group [disabled]: checkbox "Never" [disabled]',
  ]);
  const refs = ['radio "Small"', 'checkbox "✓ News"', 'checkbox "Dark"', 'checkbox "Plain"'].map(refTo);
  const checked = () => page().evaluate("[...document.querySelectorAll('input')].map(({ checked }) => checked)");
  for (const ref of refs) await done("click_element", { ref });
  expect(await checked()).toEqual([true, true, true, true, false]);
  expect((await desk.see()).text).toMatch(/checkbox "Dark" \[checked\]/);
  await done("fill_form", { fields: refs.slice(1).map((ref) => ({ ref, value: false })) });
  expect(await checked()).toEqual([true, false, false, false, false]);
});

test("a slider says between which values it stands and what sets it, and is set, also one that a page draws itself", async () => {
  const { lines, refTo } = await open("/sliders");
  expect(lines).toEqual([
    '- slider "Volume": 10 (0 to 50; browser_input_text sets it)',
    '- slider "Price": 20 (20 to 900; browser_input_text sets it)',
    '- slider "Dead": 1 (0 to 100; browser_input_text sets it)',
  ]);
  const [volume, price, dead] = ["Volume", "Price", "Dead"].map((name) => refTo(`slider "${name}"`));
  expect(await done("input_text", { ref: volume, text: "30" })).toBe(`Wrote into slider "Volume" [${volume}].`);
  expect(await done("input_text", { ref: price, text: "635" })).toBe(`Wrote into slider "Price" [${price}].`);
  expect(await page().evaluate("document.querySelector('[role=slider]').ariaValueNow")).toBe("635");
  expect(await done("fill_form", { fields: [{ ref: price, value: "42" }] })).toBe(
    `Set slider "Price" [${price}], which holds "40" now.`,
  );
  expect(await done("input_text", { ref: price, text: "much" })).toEndWith("is a slider; its value is a number.");
  expect(await done("input_text", { ref: dead, text: "3" })).toEndWith("Drag its handle with browser_drag.");
});

test("the files that a field was given are seen, also where the field is hidden behind a label or a button", async () => {
  await writeFile(join(desk.workspace.root, "scan.txt"), "words");
  const { refTo } = await open("/files");
  const { mark } = await desk.see();
  const fields = ['button "Scan"', "clickable", 'button "Attach"'].map(refTo);
  for (const ref of fields) await done("upload", { ref, paths: ["scan.txt"] });
  const now = (await desk.seeSince(mark))?.text ?? "";
  expect(now).toMatch(/button "Scan" \[e\d+\]: scan\.txt/);
  expect(now).toMatch(/\(chosen: scan\.txt\) Add a picture|Add a picture \(chosen: scan\.txt\)/);
  expect(now.match(/chosen: scan\.txt/g)).toHaveLength(2);
});

test("what was clicked is named by its title, its words, or what it is in", async () => {
  const { seen, refTo } = await open("/drawing");
  expect(seen).toMatch(/clickable "Germany" \[e\d+\]/);
  const clicked = async (words: string) => (await done("click_element", { ref: refTo(words) })).split(" [")[0];
  expect(await clicked('clickable "Germany"')).toBe('Clicked g "Germany"');
  expect(await clicked(": France")).toBe('Clicked g "France"');
  expect(await clicked("circle")).toBe('Clicked circle[onclick=1] in "Spain"');
  expect(await clicked("Card of Ann")).toBe('Clicked div "Card of Ann"');
});

test("a cell that only holds a button has no line or ref, and neither has the words beside a field", async () => {
  const { seen } = await open("/calendar");
  expect(linesOf(seen).map((line) => line.replaceAll(/e\d+/g, "e"))).toEqual([
    "- grid [e]",
    ' - button "1" [selected] [e] | button "2" [e]',
    "- table [e]",
    ' - Quantity | textbox "How many" [e]',
  ]);
});
