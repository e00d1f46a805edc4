import { afterAll, expect, test } from "bun:test";
import { refOf, startDesk } from "../../../testing/browser/desk.ts";

const list = (names: readonly string[]) =>
  names.map((name) => `<li>${name} <button onclick="done(this)">Delete ${name}</button>`).join("");
const script = `<script>const log = []; function done(button) { log.push(button.textContent); document.title = log.join() }
  function again(names) { list.innerHTML = names.map((name) => '<li>' + name + ' <button onclick="done(this)">Delete ' + name + '</button>').join('') }</script>`;
let visits = 0;
const desk = await startDesk({
  "/list": `<ul id=list>${list(["Ann", "Bob"])}</ul>${script}`,
  "/same": () => {
    visits += 1;
    return new Response(`<button onclick="document.title = 'clicked ${visits}'">Delete</button>`, {
      headers: { "content-type": "text/html" },
    });
  },
  "/card": `<div style="cursor:pointer" onclick="document.title = this.textContent">Delete Ann</div>`,
  "/frame": `<iframe src="/inner"></iframe>`,
  "/inner": `<button onclick="parent.document.title = 'inner'">Inner</button>`,
  "/shade": `<div id=host></div><script>host.attachShadow({ mode: "open" }).innerHTML = '<button onclick="document.title = this.textContent">One</button>'</script>`,
  "/typed": `<input aria-label=Name><button onclick="document.title = 'sent'">Send</button>`,
});
afterAll(() => desk[Symbol.asyncDispose]());

const page = () => desk.browsing().active().page;
const click = (ref: string) => desk.call("click_element", { ref });

test("an element that a page moved is still itself", async () => {
  const ref = refOf(await desk.open("/list"), 'button "Delete Ann"');
  await page().evaluate("list.append(list.firstElementChild)");
  expect((await click(ref)).text).toContain('Clicked button "Delete Ann"');
  expect(await page().title()).toBe("Delete Ann");
});

test("an element whose text was replaced is refused, before and after a new observation", async () => {
  const ref = refOf(await desk.open("/list"), 'button "Delete Ann"');
  await page().evaluate("list.querySelector('button').textContent = 'Delete Carol'");
  for (const look of [false, true]) {
    if (look) await desk.see();
    const { text, isError } = await click(ref);
    expect({ text, isError }).toEqual({
      text: expect.stringContaining(`${ref} (button "Delete Ann") is no longer valid`),
      isError: true,
    });
  }
  expect(await page().title()).toBe("");
});

test("a ref from before the browser was closed says that the page is gone, not that the ref was wrong", async () => {
  await using fresh = await startDesk({ "/list": `<ul id=list>${list(["Ann"])}</ul>${script}` });
  const { text, isError } = await fresh.call("click_element", { ref: "e5" });
  expect(isError).toBe(true);
  expect(text).toContain("closed since, with its tabs and log-ins");
  await fresh.open("/list");
  expect((await fresh.call("click_element", { ref: "e500" })).text).toContain("There is no element e500");
});

test("the same button on a reloaded page is another element until that page was looked at", async () => {
  const ref = refOf(await desk.open("/same"), 'button "Delete"');
  await desk.call("refresh");
  expect(await click(ref)).toMatchObject({ isError: true });
  expect(await page().title()).toBe("");
  expect((await desk.see()).text).toContain(`button "Delete" [${ref}]`);
  expect(await click(ref)).toMatchObject({ isError: false });
});

test("a snapshot, which tells no changes, leaves the refs of the page before a reload invalid", async () => {
  const ref = refOf(await desk.open("/same"), 'button "Delete"');
  await desk.call("refresh");
  expect((await desk.call("snapshot")).text).toContain('button "Delete"');
  expect(await click(ref)).toMatchObject({ isError: true });
  expect(await page().title()).toBe("");
});

test("a clickable element without a name is identified by its text", async () => {
  const ref = refOf(await desk.open("/card"), "Delete Ann");
  await page().evaluate("document.querySelector('div').textContent = 'Delete Bob'");
  await desk.see();
  expect(await click(ref)).toMatchObject({ isError: true });
  expect(await page().title()).toBe("");
});

test("a button in a frame is clicked, and refused once the frame was reloaded", async () => {
  const ref = refOf(await desk.open("/frame"), 'button "Inner"');
  expect(await click(ref)).toMatchObject({ isError: false });
  expect(await page().title()).toBe("inner");
  await page().evaluate(
    "document.title = ''; const frame = frames[0]; new Promise((done) => { document.querySelector('iframe').onload = done; frame.location.reload() })",
  );
  expect(await click(ref)).toMatchObject({ isError: true });
  await desk.see();
  expect(await click(ref)).toMatchObject({ isError: true });
  expect(await page().title()).toBe("");
});

test("a button in a shadow root is clicked, and refused once its name changed", async () => {
  const ref = refOf(await desk.open("/shade"), 'button "One"');
  expect(await click(ref)).toMatchObject({ isError: false });
  await page().evaluate("document.title = ''; host.shadowRoot.firstChild.textContent = 'Two'");
  expect(await click(ref)).toMatchObject({ isError: true });
  expect(await page().title()).toBe("");
});

test("a field keeps its ref whatever is typed into it", async () => {
  const ref = refOf(await desk.open("/typed"), 'textbox "Name"');
  for (const text of ["Ann", "", "Bob"])
    expect(await desk.call("input_text", { ref, text })).toMatchObject({ isError: false });
  expect(refOf((await desk.see()).text, 'textbox "Name"')).toBe(ref);
});

test("a ref that was never given, or belongs to another tab, is refused with advice", async () => {
  expect(await click("e999999")).toMatchObject({ isError: true, text: expect.stringContaining("browser_snapshot") });
  const ref = refOf(await desk.open("/typed"), 'button "Send"');
  const here = desk.browsing().active().id;
  await desk.call("open_tab", { url: `${desk.url}/card` });
  expect(await click(ref)).toMatchObject({ isError: true, text: expect.stringContaining("browser_switch_tab") });
  await desk.call("switch_tab", { tab_id: here });
  expect(await click(`[${ref}]`)).toMatchObject({ isError: false });
});
