import { afterAll, expect, test } from "bun:test";
import { refOf, startDesk } from "../../testing/browser/desk.ts";

const rows = "<li>A row of many words".repeat(20);
let visits = 0;
const desk = await startDesk({
  "/prices": `<title>Prices</title><ul>${rows}</ul><p id=p></p><button onclick="p.textContent = 'A costs 3'">A</button>
    <button onclick="p.textContent = 'B costs 4'">B</button><button onclick="p.textContent = ''">None</button>
    <button onclick="setTimeout(() => p.textContent = 'late ' + 'word '.repeat(400), 40)">Late</button>
    <button onclick="p.textContent = 'Loading…'">Load</button><button onclick="p.textContent = '34 %'">Part</button>
    <button onclick="p.textContent = 'B costs'">Half</button>
    <button onclick="document.querySelector('ul').insertAdjacentHTML('afterend', '<p>Added')">Add</button>`,
  "/shop": ({ url }) => {
    const names = url.includes("?") ? ["Lamp"] : ["Kettle", "Chair", "Clock"];
    const rows = names.map((name) => `<div><a href=/>${name}</a><p>9 EUR<p>Sold out</div>`);
    const page = `<button onclick="this.remove()">No thanks</button><div>${rows.join("")}</div>`;
    return new Response(page, { headers: { "content-type": "text/html" } });
  },
  "/visits": () =>
    new Response(`<ul>${rows}</ul><p>Visit ${++visits}</p><button onclick="this.textContent += '!'">Go</button>`, {
      headers: { "content-type": "text/html" },
    }),
});
afterAll(() => desk[Symbol.asyncDispose]());

/** What is told of a page after clicks of one turn. */
const after = async (names: readonly string[], between: () => Promise<unknown> = async () => undefined) => {
  await desk.open("/prices");
  const { text, mark } = await desk.see();
  const refs = names.map((name) => refOf(text, `button "${name}"`));
  for (const [at, ref] of refs.entries()) {
    await desk.call("click_element", { ref });
    if (at === 0) await between();
  }
  return await desk.seeSince(mark);
};
const passed = (text: string) =>
  `Between your acts it also said:\n<web-content from="${desk.url}">\n${text}\n</web-content>`;

test("of several clicks in one turn, what the earlier ones showed is told beside what is there now, and kept", async () => {
  const seen = await after(["A", "B"]);
  expect(seen?.text).toMatch(/^<web-content [^>]+>\n\+ B costs 4 \[e\d+\]\n<\/web-content>\nBetween your acts/);
  expect(seen?.text).toEndWith(passed("A costs 3"));
  expect(seen?.brief).toEndWith(passed("A costs 3"));
  expect((await after(["A", "B", "None"]))?.text).toEndWith(passed("A costs 3\nB costs 4"));
});

test("what came late before the next click is told shortened, and one text at most", async () => {
  const text = (await after(["Late", "B", "A"]))?.text ?? "";
  expect(text).toMatch(/\nlate (word )+[^\n]*…\nB costs 4\n/);
});

test("what is still there, or was told by a snapshot, is not told as passed", async () => {
  expect((await after(["Add", "A"]))?.text).not.toContain("Between");
  expect((await after(["A"]))?.text).not.toContain("Between");
  const seen = await after(["A", "B"], () => desk.call("snapshot"));
  expect(seen?.text).toContain("+ B costs 4");
  expect(seen?.text).not.toContain("Between");
});

test("a page that acts of one turn loaded anew is told as changed, not whole, with what it said before", async () => {
  await desk.open("/visits");
  const { text, mark } = await desk.see();
  const now = visits;
  await desk.call("click_element", { ref: refOf(text, 'button "Go"') });
  for (const n of [1, 2]) {
    await desk.call("go_to_url", { url: `${desk.url}/visits?${n}` });
    await desk.call("send_keys", { keys: "Tab Enter" });
  }
  const seen = await desk.seeSince(mark);
  expect(seen?.text).toContain(`+ Visit ${now + 2}`);
  expect(seen?.text).not.toContain("A row of many words");
  expect(seen?.text).toEndWith(passed(`Visit ${now + 1}`));
});

test("what a page said before an act of the same turn left it is told, and nothing that was known of it", async () => {
  await desk.open("/prices");
  const { text, mark } = await desk.see();
  await desk.call("click_element", { ref: refOf(text, 'button "A"') });
  await desk.call("go_to_url", { url: `${desk.url}/visits` });
  const seen = await desk.seeSince(mark);
  expect(seen?.text).toContain("Visit");
  expect(seen?.text).toEndWith(
    `Between your acts ${desk.url}/prices also said:\n<web-content from="${desk.url}">\nA costs 3\n</web-content>`,
  );
  expect(seen?.brief).toContain("A costs 3");
});

test("the rows of a page that an act left were told with their refs, and are not told again", async () => {
  await desk.open("/shop");
  const { text, mark } = await desk.see();
  expect(text).toMatch(/row \[e\d+\]: link "Kettle"/);
  await desk.call("click_element", { ref: refOf(text, 'button "No thanks"') });
  await desk.call("go_to_url", { url: `${desk.url}/shop?q=lamp` });
  const seen = await desk.seeSince(mark);
  expect(seen?.text).toContain("Lamp");
  expect(seen?.text).not.toContain("Between");
});

test("what only said that something was under way, or is part of what is there now, is not told as passed", async () => {
  for (const fleeting of ["Load", "Part", "Half"]) {
    const text = (await after([fleeting, "B"]))?.text ?? "";
    expect(text).toContain("+ B costs 4");
    expect(text).not.toContain("Between");
  }
});
