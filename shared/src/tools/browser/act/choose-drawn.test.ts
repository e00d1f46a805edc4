import { afterAll, expect, test } from "bun:test";
import { refOf, startDesk } from "../../../testing/browser/desk.ts";

const choose = `const choose = (text) => { c.textContent = text; document.querySelector("#m").hidden = true }`;
const desk = await startDesk({
  "/beside": `<div id=c style="border:1px solid;cursor:pointer" onclick="m.hidden = !m.hidden">Pick</div><p>Red</p>
    <div><ul id=m hidden onclick="choose(event.target.textContent.trim())"><li>Red<li> Dark
      <b>blue</b></ul></div><script>${choose}</script>`,
  "/portal": `<button aria-haspopup=listbox aria-expanded=false id=c onclick="draw()">Size</button><ul><li role=option>Large</ul><script>function draw() {
    const list = document.createElement("div"); list.innerHTML = "<div>Small</div><div>Large</div>"; c.ariaExpanded = true
    list.onclick = (event) => { c.textContent = "is " + event.target.textContent; list.remove() }; setTimeout(() => document.body.append(list), 200) }</script>`,
  "/fitting": `<input role=combobox aria-label=City>`,
});
afterAll(() => desk[Symbol.asyncDispose]());

const chosen = () => desk.browsing().active().page.evaluate("c.textContent.trim()");
const choice = async (path: string, words: string, text: string) => {
  const ref = refOf(await desk.open(path), words);
  return { ref, said: (await desk.call("select_dropdown_option", { ref, text })).text };
};

test("an entry is chosen that stands beside its dropdown without a role, and not the same words that were there before", async () => {
  const { ref, said } = await choice("/beside", "Pick", "red");
  expect([said, await chosen()]).toEqual([`Chose "red" in div "Pick" [${ref}].`, "Red"]);
});

test("the entry of a dropdown that is open is chosen, and by all its words only", async () => {
  const ref = refOf(await desk.open("/beside"), "Pick");
  await desk.call("click_element", { ref });
  await desk.call("select_dropdown_option", { ref, text: "Red" });
  expect(await chosen()).toBe("Red");
  const again = refOf(await desk.open("/beside"), "Pick");
  const { text } = await desk.call("select_dropdown_option", { ref: again, text: "Dark" });
  expect(text).toMatch(/has no entry "Dark". It shows:\n.*\n"Dark blue"\n/);
  await choice("/beside", "Pick", "dark BLUE");
  expect(await chosen()).toMatch(/^Dark\s+blue$/);
});

test("a dropdown that says it is closed is opened first, also where another list has that entry", async () => {
  await choice("/portal", 'button "Size"', "Large");
  expect(await chosen()).toBe("is Large");
});

test("a field that lists what fits is not written into by choosing", async () => {
  const { said } = await choice("/fitting", "combobox", "Cairo");
  expect(said).toEndWith("write a part with browser_input_text, then look.");
  expect(await desk.browsing().active().page.inputValue("input")).toBe("");
});
