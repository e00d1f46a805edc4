import { afterAll, expect, test } from "bun:test";
import { refOf, startDesk } from "../../../testing/browser/desk.ts";

const lamps = ["Ardo", "Belm", "Corin", "Duva", "Ekko", "Finn"];
const put: string[] = [];
let shown = 0;
const html = (body: string) => new Response(body, { headers: { "content-type": "text/html; charset=utf-8" } });
const rows = (of: readonly string[]) =>
  of.map(
    (lamp, n) =>
      `<tr><td>${lamp} lamp</td><td>${n + 12} EUR</td><td><button name=put value=${lamp}>Add</button></td></tr>`,
  );

const desk = await startDesk({
  "/shop": (request) => {
    const wanted = new URL(request.url).searchParams.get("put");
    if (wanted !== null) put.push(wanted);
    return html(
      `<title>Lamps</title><nav><a href=/cart>Cart (${put.length})</a> <a href=/terms>Terms</a></nav><form><table>${rows(lamps).join("")}</table></form>`,
    );
  },
  "/list": (request) => {
    const from = Number(new URL(request.url).searchParams.get("from") ?? 0);
    const other = lamps.map((lamp) => `${lamp} ${from}`);
    return html(
      `<title>List</title><h1>List</h1><table>${rows(other).join("")}</table><a href="?from=${from + 6}">Next</a>`,
    );
  },
  "/last": () =>
    html(
      `<h1>Members</h1><ul><li>${lamps[shown++ % 6]} <button>Delete</button></li></ul><p>${"Each may be asked. ".repeat(20)}</p>`,
    ),
  "/answers": () =>
    html(`<h1>Answers</h1><p>Shown ${++shown} times</p><button onclick="location.reload()">Again</button>
      <button onclick="document.title = 'first'">Delete</button><button onclick="document.title = 'second'">Delete</button>
      <ul>${lamps.map((lamp) => `<li>${lamp} was here</li>`).join("")}</ul>`),
});
afterAll(() => desk[Symbol.asyncDispose]());

test("a page that was loaded anew is told by what changed, and what stayed keeps its ref", async () => {
  const text = await desk.open("/shop");
  const { mark } = await desk.see();
  await desk.call("click_element", { ref: refInRow(text, "Corin lamp") });
  const changes = await desk.seeSince(mark);
  expect(changes?.since).toBe(mark);
  expect(changes?.text).toStartWith(`Page: ${desk.url}/shop?put=Corin\nLoaded anew: what is not told is as before.\n`);
  expect(changes?.text).toMatch(/\+ link "Cart \(1\)" \[e\d+\]/);
  expect(changes?.text).toContain('gone: link "Cart (0)"');
  for (const same of ["Ardo", "EUR", "Terms"]) expect(changes?.text).not.toContain(same);
  await desk.call("click_element", { ref: refInRow(text, "Ekko lamp") });
  expect(put).toEqual(["Corin", "Ekko"]);
});

test("a page whose content is another is shown whole, whether its address is new or not", async () => {
  const text = await desk.open("/list");
  const { mark } = await desk.see();
  await desk.call("click_element", { ref: refOf(text, 'link "Next"') });
  const next = await desk.seeSince(mark);
  expect(next?.text).toStartWith(`Page: ${desk.url}/list?from=6\n<web-content`);
  expect(next).not.toHaveProperty("since");
  expect(next?.text).toContain("List");
  await desk.call("go_to_url", { url: `${desk.url}/shop` });
  expect(await desk.seeSince(next?.mark)).not.toHaveProperty("since");
});

test("elements that nothing tells apart get new refs when their page is loaded anew", async () => {
  const text = await desk.open("/answers");
  const { mark } = await desk.see();
  await desk.call("click_element", { ref: refOf(text, 'button "Again"') });
  const changes = await desk.seeSince(mark);
  expect(changes?.text.match(/\+ button "Delete" \[e\d+\]/g)).toHaveLength(2);
  expect(changes?.text).not.toContain("Again");
  const old = await desk.call("click_element", { ref: refOf(text, 'button "Delete"') });
  expect(old).toMatchObject({ isError: true, text: expect.stringContaining("is no longer valid") });
});

test("what has not been told yet is refused: refs move only with the observation that tells it", async () => {
  const text = await desk.open("/shop");
  await desk.see();
  await desk.call("refresh");
  const early = await desk.call("click_element", { ref: refInRow(text, "Finn lamp") });
  expect(early).toMatchObject({ isError: true, text: expect.stringContaining("is no longer valid") });
});

test("what is in a row that is gone has no ref in the row in its place", async () => {
  const text = await desk.open("/last");
  const { mark } = await desk.see();
  await desk.call("refresh");
  const changes = await desk.seeSince(mark);
  expect(changes?.since).toBe(mark);
  expect(refOf(changes?.text ?? "", 'button "Delete"')).not.toBe(refOf(text, 'button "Delete"'));
});

/** The ref of the button in a row. */
function refInRow(text: string, words: string): string {
  const line = text.split("\n").find((one) => one.includes(words)) ?? "";
  return /button "Add" \[(e\d+)\]/.exec(line)?.[1] ?? "";
}
