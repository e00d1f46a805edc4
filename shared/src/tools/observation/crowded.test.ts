import { afterAll, expect, test } from "bun:test";
import { refOf, startDesk } from "../../testing/browser/desk.ts";

const mail = (index: number) =>
  `<div class=mail onclick="read(${index})"><span class=star></span><b>Sender number ${index}</b><p>Letter about the matter numbered ${index} of this year</p></div>`;
const mailbox = `<style>body{margin:0} .mail{display:flex;gap:9px;cursor:pointer} p{margin:4px} pre{white-space:pre-wrap}
  .star{width:12px;height:12px;background:#ddd} .star.on{background:gold}</style>
  <div style="display:grid;grid-template-columns:600px 500px;align-items:start"><div id=list></div><div id=view>Nothing is open.</div></div>
  <script>
    const mails = ${JSON.stringify(Array.from({ length: 40 }, (_, index) => mail(index)))};
    function draw() { list.innerHTML = mails.join("") }
    function read(index) {
      if (event.target.matches(".star")) return event.target.classList.toggle("on");
      view.innerHTML = "<h2>Letter</h2><pre>The additional payment is 214.37 euros. ${"It is due in December. ".repeat(5)}</pre>";
      draw();
    }
    draw();
  </script>`;

/** Rows of a table that is drawn of boxes; each has a button without a word. */
const sheet = `<style>.row{display:grid;grid-template-columns:80px 150px 90px 60px 60px;height:30px}</style><div>
  ${Array.from({ length: 15 }, (_, index) => `<div class=row><span>${7000 + index}</span><span>Customer ${index}</span><span>${index},50 €</span><span>open</span><button>Remind</button></div>`).join("")}</div>`;
const rail = `<style>nav div{width:64px;height:52px;cursor:pointer} svg{pointer-events:none}</style><nav>
  <div id=stat><svg width=20 height=20><rect width=20 height=20 fill=blue /></svg></div></nav>`;
const modal = `${"<p>Behind is a text of some words</p>".repeat(9)}<button onclick="d.showModal()">Open</button><i class=far style="display:block;width:9px;height:9px;background:red"></i><dialog id=d>Amount: <b id=n>1</b>
  <button onclick="n.textContent = 2">More</button><button onclick="d.close()">Close</button></dialog>`;

const editor = `<div contenteditable aria-label=Letter style="min-height:60px"></div><div>Written to somebody called Ann Adams in🇫🇷
  <i style="display:inline-block;width:9px;height:9px;background:red"></i></div>`;

const desk = await startDesk({ "/mail": mailbox, "/sheet": sheet, "/rail": rail, "/modal": modal, "/editor": editor });
afterAll(() => desk[Symbol.asyncDispose]());

test("what an act opened is told before what a crowded page, drawn anew, has told already", async () => {
  const before = await desk.open("/mail");
  const { mark } = await desk.see();
  await desk.call("click_element", { ref: refOf(before, "Sender number 3") });
  const { text = "" } = (await desk.seeSince(mark)) ?? {};
  expect(text).toContain("The additional payment is 214.37 euros.");
});

test("a shape whose class changes with its colour keeps its ref", async () => {
  const before = await desk.open("/mail");
  const { mark } = await desk.see();
  const ref = refOf(before, "span.star");
  await desk.call("click_element", { ref });
  const { text = "" } = (await desk.seeSince(mark)) ?? {};
  expect(text).toMatch(new RegExp(String.raw`~ span\.star\.on \[${ref}\]: 12×12 px at .*rgb\(255, 215, 0\)`));
  expect(text).not.toContain("gone:");
  expect((await desk.call("click_element", { ref })).text).toContain(`Clicked span.star.on [${ref}].`);
});

test("a row of a table that is drawn of boxes is one line", async () => {
  expect(await desk.open("/sheet")).toMatch(
    /^ *- row \[e\d+\]: 7001 \| Customer 1 \| 1,50 € \| open \| button "Remind" \[e\d+\]$/m,
  );
});

test("what can be clicked and shows only a drawing is described", async () => {
  expect(await desk.open("/rail")).toMatch(/clickable \[e\d+\]: \(no label: div#stat, 64×52 px/);
});

test("a dialog whose words change is the same one", async () => {
  await desk.call("click_element", { ref: refOf(await desk.open("/modal"), "Open") });
  const { text: before, mark } = await desk.see();
  await desk.call("click_element", { ref: refOf(before, "More") });
  const { text = "" } = (await desk.seeSince(mark)) ?? {};
  expect(text).toContain("+ Amount: 2");
  expect(text).not.toMatch(/[+~] dialog|gone: dialog/);
});

test("what a modal dialog makes inert is left out until it is closed, and not told as gone", async () => {
  const before = await desk.open("/modal");
  expect(before).toContain("Behind");
  const { mark } = await desk.see();
  await desk.call("click_element", { ref: refOf(before, "Open") });
  const opened = await desk.seeSince(mark);
  expect(opened?.text).toMatch(/\+ dialog \[modal\]/);
  expect(opened?.text).not.toMatch(/gone: .*(?:Behind|Open)/);
  const { text, mark: whole } = await desk.see();
  expect(text).toContain("Amount: 1");
  for (const behind of ["Behind", "i.far", '"Open"']) expect(text).not.toContain(behind);
  await desk.call("click_element", { ref: refOf(text, "Close") });
  const { text: closed = "" } = (await desk.seeSince(whole)) ?? {};
  for (const back of ["Behind", "i.far", '"Open"']) expect(closed).toContain(back);
});

test("what is written into is a textbox though it is no field, and words beside a shape are cut between characters", async () => {
  const text = await desk.open("/editor");
  expect(text).toMatch(/textbox "Letter" \[e\d+\]/);
  expect(text).toContain('beside "Written to somebody called Ann Adams in"');
  expect(text.isWellFormed()).toBe(true);
  await desk.call("input_text", { ref: refOf(text, 'textbox "Letter"'), text: "Dear Ann,\nyes." });
  expect((await desk.see()).text).toMatch(/textbox "Letter" \[focused\] \[e\d+\]\n - Dear Ann,\n - yes\./);
});
