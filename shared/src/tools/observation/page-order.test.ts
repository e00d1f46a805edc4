import { afterAll, expect, test } from "bun:test";
import { startDesk } from "../../testing/browser/desk.ts";

const words = "<p>Many words that stand beside the lists and stay as they are while these are sorted.</p>".repeat(12);
const task = (name: string) => `<li draggable=true>${name} <button>Done</button></li>`;
const names = ["Ann", "Bob", "Cid", "Dora"];

const desk = await startDesk({
  "/lists": `${words}<main><section aria-label="Board"><h2>To do</h2><div><ul id=l>${names.map(task).join("")}</ul></div></section>
    <section aria-label="Other"><ul id=m><li>Old</li><li>Older</li></ul></section></main>`,
  "/table": `${words}<table><thead><tr><th>Name</th><th>Age</th></tr></thead>
    <tbody id=l>${names.map((name, at) => `<tr><td>${name}</td><td>${30 + at}</td></tr>`).join("")}</tbody></table>`,
});
afterAll(() => desk[Symbol.asyncDispose]());

/** What is told after a script has changed a page: the names in each line. */
async function changed(path: string, ...scripts: readonly string[]) {
  await desk.open(path);
  let { mark } = await desk.see();
  let text = "";
  for (const script of scripts) {
    await desk.browsing().active().page.evaluate(script);
    const seen = await desk.seeSince(mark);
    text = seen?.text ?? "";
    mark = seen?.mark ?? mark;
  }
  const orders = text.split("\n").filter((line) => line.startsWith("order now in "));
  return { text, orders: orders.map((line) => line.match(/Ann|Bob|Cid|Dora|Old\b|Older|New/g)?.join(" ")) };
}

const reverse = "l.innerHTML = [...l.children].reverse().map((one) => one.outerHTML).join('')";

test("a list that was sorted, or an entry that was dragged, is told in its new order", async () => {
  expect((await changed("/lists", "l.append(l.firstElementChild)")).orders).toEqual(["Dora Ann"]);
  expect((await changed("/lists", "l.prepend(l.children[2])")).orders).toEqual(["Cid Ann"]);
  expect((await changed("/lists", reverse)).orders).toEqual(["Dora Cid Bob Ann"]);
  expect((await changed("/table", reverse)).orders).toEqual(["Dora Cid Bob Ann"]);
  expect((await changed("/lists", reverse, reverse)).orders).toEqual(["Ann Bob Cid Dora"]);
});

test("an entry that was dragged into another list is told where it is now", async () => {
  const { orders } = await changed("/lists", "m.firstElementChild.after(l.firstElementChild)");
  expect(orders).toContain("Old Ann Older");
});

test("where entries are only added, removed or changed, no order is told", async () => {
  for (const script of [
    "l.children[1].remove()",
    "l.insertAdjacentHTML('beforeend', '<li>New</li>')",
    "l.children[1].querySelector('button').textContent = 'New'",
  ]) {
    const { text, orders } = await changed("/lists", script);
    expect(text).toMatch(/New|gone: /);
    expect({ script, orders }).toEqual({ script, orders: [] });
  }
});
