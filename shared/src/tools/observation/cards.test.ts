import { afterAll, expect, test } from "bun:test";
import { refOf, startDesk } from "../../testing/browser/desk.ts";

const names = Array.from({ length: 14 }, (_, at) => `Disk ${String.fromCharCode(65 + at)}`);
const dot = (colour: string) =>
  `<span class=dot style="display:inline-block;width:10px;height:10px;background:${colour}"></span>`;
const card = (name: string, at: number) =>
  `<div style="border:1px solid;width:220px;height:150px"><b>${name}</b> ${dot(at % 7 === 0 ? "#c00" : "#0a0")}<div>€${at + 20}.50</div><div>In stock</div><button onclick="document.title='${name}'">Add to basket</button></div>`;
const desk = await startDesk({
  "/shop": `<h1>Disks</h1><div style="display:flex;flex-wrap:wrap">${names.map(card).join("")}</div><div style="height:900px"></div>`,
  "/dots": `${Array.from({ length: 5 }, () => '<i onclick="1" style="display:block;width:12px;height:12px;background:red;margin:9px"></i>').join("")}`,
});
afterAll(() => desk[Symbol.asyncDispose]());

test("cards of products are a line each, so that a button stands beside what it buys", async () => {
  const text = await desk.open("/shop");
  for (const [at, name] of names.entries())
    expect(text).toMatch(
      new RegExp(`- ${name} \\| €${at + 20}\\.50 \\| In stock \\| button "Add to basket" \\[e\\d+\\]\\n`),
    );
  const line = text.slice(text.indexOf("Disk K"));
  expect(await desk.call("click_element", { ref: refOf(line, 'button "Add to basket" [') })).toMatchObject({
    isError: false,
  });
  expect(await desk.browsing().active().page.title()).toBe("Disk K");
});

test("marks that do nothing and look alike are told on one line a colour, with their places", async () => {
  const text = await desk.open("/shop");
  expect(text).toMatch(/^ *- 12 × span\.dot: 10×10 px, rgb\(0, 170, 0\): (?:\[e\d+\] at \d+,\d+(?:; |$)){12}/m);
  expect(text.match(/rgb\(204, 0, 0\)/g)).toHaveLength(2);
});

test("marks that can be clicked stay a line each", async () => {
  expect((await desk.open("/dots")).match(/^ *- i\S* \[e\d+\]/gm)).toHaveLength(5);
});

test("marks that look alike are no news where a scroll shows more or fewer of them", async () => {
  await desk.open("/shop");
  const { mark } = await desk.see();
  await desk.browsing().active().page.evaluate("scrollTo(0, 160)");
  expect((await desk.seeSince(mark))?.text).not.toMatch(/\d × /);
});

test("what a scroll moved in the window is not told as changed, then or later", async () => {
  await desk.open("/shop");
  const { mark } = await desk.see();
  await desk.browsing().active().page.evaluate("scrollTo(0, 60)");
  const scrolled = await desk.seeSince(mark);
  expect(scrolled?.text).not.toContain("~");
  await desk.browsing().active().page.evaluate("document.querySelector('h1').textContent = 'Drives'");
  const { text = "" } = (await desk.seeSince(scrolled?.mark)) ?? {};
  expect(text).toContain("Drives");
  expect(text).not.toMatch(/px/);
});
