import { afterAll, expect, test } from "bun:test";
import { refOf, startDesk } from "../../../testing/browser/desk.ts";

/**
 * A page whose script draws it by `draw(what)`; a click shows in the title the number of the
 * drawing and what is around the button.
 */
const drawn = (html: string, first: string) => `<div id=root></div><script>
  let drawing = 0;
  function hit(button, row = button.parentElement) { document.title = drawing + ' ' + row.textContent.trim() }
  function draw(what) { drawing += 1; root.innerHTML = (${html})(what) }
  draw(${first});
</script>`;
const button = (name: string) => `<button onclick="hit(this)">${name}</button>`;
const list = `(names) => '<h1>People</h1><ul>' + names.map((name) => '<li>' + name + ' ${button("Delete")}</li>').join('') + '</ul>'`;

const desk = await startDesk({
  "/list": drawn(list, "['Ann', 'Bob']"),
  "/twins": drawn(list, "['Ann', 'Ann', 'Bob']"),
  "/cells": drawn(
    `(names) => '<table>' + names.map((name) => '<tr><td>' + name + '</td><td><button onclick="hit(this, this.closest(\\'tr\\'))">Edit</button></td><td><button onclick="hit(this, this.closest(\\'tr\\'))">Delete</button></td></tr>').join('') + '</table>'`,
    "['Ann', 'Bob']",
  ),
  "/divs": drawn(
    `(names) => names.map((name) => '<div><span>' + name + '</span><p>about ' + name + '</p>${button("Delete")}</div>').join('')`,
    "['Ann', 'Bob']",
  ),
  "/detail": drawn(`(name) => '<div>' + name + '</div><div>${button("Edit")}${button("Delete")}</div>'`, "'Ann'"),
  "/fields": drawn(
    `(name) => '<div><span>Name ' + name + '</span>${button("Edit")}</div><div><span>Street unknown</span>${button("Edit")}</div>'`,
    "'Ann'",
  ),
  "/links": drawn(
    `(from) => '<ul>' + ['Ann', 'Bob'].map((name, i) => '<li><a href="/' + (from + i) + '">' + name + '</a> ${button("Delete")}</li>').join('') + '</ul>'`,
    "1",
  ),
  "/stock": drawn(
    `(left) => '<ul>' + ['Ann', 'Bob'].map((name, i) => '<li><a href="#' + name + '" onclick="hit(this)">' + name + '</a> <a href="/' + name + '">About ' + name + '</a> ' + (left + i) + ' left ${button("Buy")}</li>').join('') + '</ul>'`,
    "5",
  ),
  "/tickets": drawn(
    `([taken, said, title = 'Open']) => '<h1>' + title + '</h1><ul>' + ['VPN', 'Mail', 'Badge', 'Screen', 'Mouse', 'Phone', 'Desk', 'Lamp'].map((name) => '<li>' + name + ' ' + (taken === name ? 'mine' : 'free') + (title + taken === 'Mine' + name ? '' : ' ${button("Take")}') + '</li>').join('') + '</ul>' + said`,
    "['', '']",
  ),
  "/served": drawn(
    `([mine, said]) => '<ul>' + ['VPN', 'Mail', 'Badge', 'Screen', 'Mouse', 'Phone', 'Desk', 'Lamp', 'Door'].map((name) => '<li>' + name + (mine.includes(name) ? ' mine' : ' free') + ' <button onclick="taken.push(\\'' + name + '\\'); setTimeout(() => draw([taken, \\'<p>' + name + ' is yours</p>\\']), 20)">Take</button></li>').join('') + '</ul>' + said`,
    "[window.taken = [], '']",
  ),
  "/form": drawn(`(n) => '<h1>Order</h1><input aria-label=Name><input aria-label=Street>${button("Send")}'`, "1"),
  "/frame": '<iframe src="/list"></iframe>',
});
afterAll(() => desk[Symbol.asyncDispose]());

const page = () => desk.browsing().active().page;
const title = () => page().title();
const click = (ref: string) => desk.call("click_element", { ref });
/** The ref of the button in the row with these words. */
const inRow = (text: string, row: string, name = "Delete") =>
  refOf(text.slice(text.indexOf(row)), `button "${name}" [`);

for (const [path, words] of [
  ["/list", "Bob Delete"],
  ["/cells", "BobEditDelete"],
  ["/divs", "Bobabout BobDelete"],
] as const)
  test(`a row's button keeps its ref when the rows of ${path.slice(1)} are redrawn, added, removed or sorted`, async () => {
    const ref = inRow(await desk.open(path), path === "/cells" ? "| " : "Bob");
    const bob = path === "/cells" ? inRow((await desk.see()).text, "Bob") : ref;
    for (const [index, names] of [
      ["Ann", "Bob"],
      ["Bob", "Ann"],
      ["Bob", "Ann", "Carol"],
      ["Bob", "Carol"],
    ].entries()) {
      await page().evaluate(`draw(${JSON.stringify(names)})`);
      expect(await click(bob)).toMatchObject({ isError: false });
      expect(await title()).toBe(`${index + 2} ${words}`);
      await desk.see();
    }
    await page().evaluate("draw(['Ann', 'Carol'])");
    expect(await click(bob)).toMatchObject({ isError: true, text: expect.stringContaining("Look again") });
  });

test("an observation of redrawn elements has the earlier refs, and the next one tells only what is new", async () => {
  await desk.open("/list");
  const { text: before, mark } = await desk.see();
  await page().evaluate("draw(['Ann', 'Bob', 'Carol'])");
  const after = (await desk.see()).text;
  for (const name of ["Ann", "Bob"]) expect(inRow(after, name)).toBe(inRow(before, name));
  const changes = (await desk.seeSince(mark))?.text;
  expect(changes).toMatch(/^ *\+ .*Carol/m);
  expect(changes).not.toMatch(/Ann|Bob/);
});

const refusals: readonly (readonly [path: string, row: string, draw: string, why: string])[] = [
  ["/list", "Bob", "['Ann', 'Carol']", "its row is gone"],
  ["/list", "Bob", "['Ben', 'Bob']", "a row was changed, so that it may be another list"],
  ["/list", "Bob", "['Ann', 'Bob', 'Bob']", "two rows say the same now"],
  ["/twins", "Ann", "['Ann', 'Bob']", "two rows said the same"],
  ["/twins", "Ann", "['Ann', 'Ann', 'Bob']", "two rows say the same, although nothing changed"],
  ["/detail", "Ann", "'Bob'", "it is about something else now"],
  ["/fields", "Street", "'Bob'", "another row that was beside it is another"],
  ["/links", "Bob", "3", "its row leads elsewhere"],
];
for (const [path, row, draw, why] of refusals)
  for (const look of [false, true])
    test(`a button of ${path.slice(1)} that was drawn anew is refused when ${why}${look ? ", after a look too" : ""}`, async () => {
      const ref = inRow(await desk.open(path), row, path === "/fields" ? "Edit" : "Delete");
      await page().evaluate(`draw(${draw})`);
      if (look) await desk.see();
      expect(await click(ref)).toMatchObject({ isError: true, text: expect.stringContaining("Look again") });
      expect(await title()).toBe("");
    });

test("the only link to somewhere keeps its ref when the words beside it change, what acts on the row does not", async () => {
  const text = await desk.open("/stock");
  const [about, buy, here] = ['link "About Bob"', 'button "Buy"', 'link "Bob"'].map((one) => refOf(text, one));
  await page().evaluate("draw(3)");
  for (const ref of [buy, here])
    expect(await click(ref ?? "")).toMatchObject({ isError: true, text: expect.stringContaining("Look again") });
  expect((await click(about ?? "")).text).toContain("The page is now /Bob");
});

test("a button is refused when the page has moved to another address meanwhile", async () => {
  const ref = inRow(await desk.open("/list"), "Bob");
  await page().evaluate("history.pushState(null, '', '/other'); draw(['Ann', 'Bob'])");
  expect(await click(ref)).toMatchObject({ isError: true, text: expect.stringContaining("Look again") });
  expect(await title()).toBe("");
});

test("the fields of a redrawn form keep their refs, whatever was typed", async () => {
  const text = await desk.open("/form");
  const [name, street, send] = ['textbox "Name"', 'textbox "Street"', 'button "Send"'].map((one) => refOf(text, one));
  expect(await desk.call("input_text", { ref: name, text: "Ann" })).toMatchObject({ isError: false });
  await page().evaluate("draw(2)");
  expect(await desk.call("input_text", { ref: street, text: "Main St" })).toMatchObject({ isError: false });
  expect(await page().evaluate("document.querySelectorAll('input')[1].value")).toBe("Main St");
  expect(await click(send ?? "")).toMatchObject({ isError: false });
});

test("a button in a frame keeps its ref when the frame redraws its list", async () => {
  const ref = inRow(await desk.open("/frame"), "Bob");
  await page().evaluate("frames[0].draw(['Bob', 'Ann'])");
  expect(await click(ref)).toMatchObject({ isError: false });
  expect(await page().evaluate("frames[0].document.title")).toBe("2 Bob Delete");
});

test("a click on a button of a row that was redrawn with other words says which ref is that row's now", async () => {
  const text = await desk.open("/stock");
  const buy = inRow(text, "About Bob", "Buy");
  await page().evaluate("draw(3)");
  const { isError, text: told } = await click(buy);
  const now = /the one like it is (e\d+) now/.exec(told)?.[1] ?? "";
  expect(isError).toBe(true);
  // The look that follows gives it no other ref.
  expect(inRow((await desk.see()).text, "About Bob", "Buy")).toBe(now);
  expect(await click(now)).toMatchObject({ isError: false });
  expect(await title()).toMatch(/^2 Bob/);
});

test("the rows beside one that changed keep their refs, also where a message appears with it", async () => {
  const mail = inRow(await desk.open("/tickets"), "Mail", "Take");
  await page().evaluate("draw(['VPN', '<p>VPN is yours</p>'])");
  expect(await click(mail)).toMatchObject({ isError: false });
  expect(await title()).toBe("2 Mail free Take");
});

test("a message that takes the place of another between acts does not make rows others", async () => {
  const text = await desk.open("/served");
  for (const name of ["VPN", "Mail", "Badge"])
    expect(await click(inRow(text, name, "Take"))).toMatchObject({ isError: false });
  const { text: changes } = await desk.see();
  expect(changes.match(/mine/g)).toHaveLength(3);
  expect(inRow(changes, "Lamp", "Take")).toBe(inRow(text, "Lamp", "Take"));
});

test("of a list where one row lost its button and the words around it changed, an observation tells only these", async () => {
  await desk.open("/tickets");
  const { text: before, mark } = await desk.see();
  await page().evaluate("draw(['VPN', '', 'Mine'])");
  const changes = (await desk.seeSince(mark))?.text;
  expect(changes).toContain("VPN mine");
  expect(changes).not.toMatch(/Mail|Badge|Lamp/);
  expect(await click(inRow(before, "Badge", "Take"))).toMatchObject({ isError: false });
});

test("rows are refused before a look when the words around their list are others", async () => {
  const mail = inRow(await desk.open("/tickets"), "Mail", "Take");
  await page().evaluate("draw(['VPN', '', 'Closed'])");
  expect(await click(mail)).toMatchObject({ isError: true, text: expect.stringContaining("Look again") });
  expect(await title()).toBe("");
});

test("where its row is gone or two rows are like it, no other ref is named", async () => {
  for (const draw of ["['Ann', 'Carol']", "['Ann', 'Bob', 'Bob']"]) {
    const ref = inRow(await desk.open("/list"), "Bob");
    await page().evaluate(`draw(${draw})`);
    expect((await click(ref)).text).not.toContain("the one like it");
  }
});
