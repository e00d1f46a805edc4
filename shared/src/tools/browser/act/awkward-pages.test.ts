import { afterAll, expect, test } from "bun:test";
import { refOf, startDesk } from "../../../testing/browser/desk.ts";

const suggestingField = (attribute: string) =>
  `<input aria-label=City ${attribute}><div id=l></div><script>const field = document.querySelector("input"); let timer
    field.oninput = () => { clearTimeout(timer); timer = setTimeout(() => { l.innerHTML = "<div>Bern <small>city</small></div>" }, 400) }</script>`;
const desk = await startDesk({
  "/shadow": `<div id=h></div><iframe srcdoc="<button onclick=&quot;parent.document.querySelector('p').textContent = 'From inside'&quot;>Inner</button><i>in</i>"></iframe>
    <p></p><button onclick="frames[0].document.querySelector('i').textContent = 'changed'">Outer</button><script>const root = h.attachShadow({ mode: "open" })
    root.innerHTML = "<button>Shaded</button><b></b>"; root.querySelector("button").onclick = () => { root.querySelector("b").textContent = "Pressed" }</script>`,
  "/inert": `<div inert><button>Behind</button></div><dialog open>Ahead</dialog>`,
  "/suggest": suggestingField("role=combobox"),
  "/suggest-too": suggestingField("autocomplete=off"),
  "/editor": `<div contenteditable role=textbox aria-label=Body><p>Hello</p></div><input aria-label=Short maxlength=3>`,
  "/list": `<div style="height:80px;overflow:auto">${"<p>small".repeat(9)}</div><div id=l style="height:300px;overflow:auto">${"<p>Entry".repeat(40)}</div>`,
});
afterAll(() => desk[Symbol.asyncDispose]());

const open = async (path: string) => {
  const text = await desk.open(path);
  return (words: string) => refOf(text, words);
};
const done = async (name: string, input: Record<string, unknown> = {}) => (await desk.call(name, input)).text;

test("a change in a shadow tree, inside a frame and around it is noticed", async () => {
  const ref = await open("/shadow");
  for (const name of ["Shaded", "Inner", "Outer"]) {
    const button = ref(`button "${name}"`);
    expect(await done("click_element", { ref: button })).toBe(`Clicked button "${name}" [${button}].`);
  }
});

test("what a dialog keeps from being used is told as that", async () => {
  const ref = await open("/inert");
  expect(await done("click_element", { ref: ref("Behind") })).toContain("cannot be used while something else is open");
});

test("what a field suggests a moment later is seen with what was written, and told where an entry is not exact", async () => {
  const ref = await open("/suggest");
  await done("input_text", { ref: ref("City"), text: "Ber" });
  expect((await desk.see()).text).toContain("Bern city");
  expect(await done("select_dropdown_option", { ref: ref("City"), text: "Bern" })).toContain('"Bern city"');
});

test("what a field suggests is seen too where only its switched-off memory tells that it does", async () => {
  const ref = await open("/suggest-too");
  await done("input_text", { ref: ref("City"), text: "Ber" });
  expect((await desk.see()).text).toContain("Bern city");
});

test("an editor that makes paragraphs of lines holds what was written, and a field that cuts it does not", async () => {
  const ref = await open("/editor");
  const [body, short] = [ref("Body"), ref("Short")];
  expect(await done("input_text", { ref: body, text: "One\nTwo" })).toBe(`Wrote into textbox "Body" [${body}].`);
  expect(await done("input_text", { ref: short, text: "One Two" })).toContain('which holds "One" now');
});

test("where neither the page nor what is in its middle scrolls, its largest part in view does", async () => {
  await open("/list");
  expect(await done("scroll_down")).toStartWith("Scrolled down by 300 px; 300 px are above");
  expect(await desk.browsing().active().page.evaluate("l.scrollTop")).toBe(300);
});
