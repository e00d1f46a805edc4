import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright";
import { type BrowsersForTest, browsersForTest } from "../../testing/browser/browsers.ts";
import { type Marks, type ReadAction, readAction, readMarks } from "./read-action.ts";

let kept: BrowsersForTest;
let page: Page;
beforeAll(async () => {
  kept = await browsersForTest([]);
  ({ page } = (await kept.open("reading")).active());
});
afterAll(() => kept[Symbol.asyncDispose]());

/** What is read of the element with the id `it`, on a page with this body. */
async function readOn(body: string): Promise<ReadAction & Marks> {
  await page.setContent(`<!doctype html><base href="http://shop.example/">${body}`);
  const element = page.locator("#it");
  return { ...(await element.evaluate(readAction)), ...(await element.evaluate(readMarks)) };
}

const long = "x".repeat(400);
test.each<[string, readonly string[]]>([
  ["<button id=it>  Go \n on </button>", ["Go on"]],
  ["<button id=it title=Tip aria-label=Spoken>Go</button>", ["Spoken", "Tip", "Go"]],
  ["<p id=a>One</p><p id=b>Two</p><button id=it aria-labelledby='a none b'></button>", ["One", "Two"]],
  ["<label for=it>First <b>name</b></label><input id=it placeholder=Ann value=Typed>", ["Ann", "First name"]],
  ["<input id=it type=submit value='Buy it'>", ["Buy it"]],
  ["<input id=it type=button value='Buy it'>", ["Buy it"]],
  ["<input id=it type=checkbox value='Buy it'>", []],
  ["<select id=it><option>Buy it</option></select>", []],
  ["<textarea id=it>Typed</textarea>", []],
  ["<button>Pay <b id=it>now</b></button>", ["Pay now", "now"]],
  [
    "<button id=it>x<img alt=Erase><i title=Mark></i><svg aria-label=Drawn></svg></button>",
    ["x", "Erase", "Mark", "Drawn"],
  ],
  ["<ul><li id=it>Ann <button>Remove</button> <a href=/x>More</a></li></ul>", ["Ann Remove More", "Remove", "More"]],
  [`<button id=it>${long}</button>`, [long.slice(0, 300)]],
])("the words of %s are %j", async (body, words) => {
  expect((await readOn(body)).words).toEqual([...words]);
});

test.each<[string, boolean]>([
  ["<input id=it>", true],
  ["<input id=it type=DATE>", true],
  ["<input id=it type=password>", true],
  ["<input id=it type=checkbox>", false],
  ["<input id=it type=file>", false],
  ["<textarea id=it></textarea>", true],
  ["<div id=it contenteditable>x</div>", true],
  ["<div id=it>x</div>", false],
  ["<select id=it></select>", false],
  ["<button id=it>text</button>", false],
])("whether text can be written into %s: %p", async (body, takesText) => {
  expect((await readOn(body)).takesText).toBe(takesText);
});

const sent = (action: string, method = "get", button: string[] = []) => ({ action, method, button });
test.each<[string, ReadAction["sends"]]>([
  ["<input id=it>", undefined],
  ["<form action=/a><input id=it></form>", sent("/a")],
  ["<form><input id=it></form>", sent("")],
  ["<form action=/a method=POST><input id=it><button>Join</button></form>", sent("/a", "post", ["Join"])],
  [
    "<form action=/a><input id=it><button formaction=/b>Join</button></form>",
    sent("http://shop.example/b", "get", ["Join"]),
  ],
  ["<form action=/a><input id=it><button formmethod=post>Join</button></form>", sent("/a", "post", ["Join"])],
  [
    "<form action=/a><input id=it><button type=button>No</button><input type=image alt=Yes></form>",
    sent("/a", "get", ["Yes"]),
  ],
  ["<form action=/a><textarea id=it></textarea><button>Join</button></form>", undefined],
  ["<form action=/a><input id=it type=checkbox><button>Join</button></form>", undefined],
  ["<form action=/a><button>Join</button><button id=it>Leave</button></form>", sent("/a", "get", ["Leave"])],
  ["<form action=/a><button>Join</button><input id=it type=submit value=Leave></form>", sent("/a", "get", ["Leave"])],
  ["<form action=/a><button id=it type=button>Leave</button></form>", undefined],
  [
    "<form action=/a><button id=it type=submit formaction=/b formmethod=POST>Leave</button></form>",
    sent("http://shop.example/b", "post", ["Leave"]),
  ],
])("what %s sends is %j", async (body, sends) => {
  expect((await readOn(body)).sends).toEqual(sends);
});

test.each<[string, readonly string[]]>([
  [
    "<button id=it class=c data-action=go value=v name=n lang=de onclick='f()'></button>",
    ["id it", "class c", "action go", "value v", "name n", "f()"],
  ],
  ["<div class=outer><p id=it class=in></p></div>", ["id it", "class in"]],
  ["<button class=b><i id=it class=trash></i></button>", ["class b", "id it", "class trash", "id it", "class trash"]],
  ["<button id=it><img src=/send.svg alt=x></button>", ["id it", "/send.svg"]],
  ["<button id=it><svg><use href='/i.svg#trash' x=1></use></svg></button>", ["id it", "/i.svg#trash"]],
  ["<form id=f action=/delete><button id=it></button></form>", ["id it", "id f", "action /delete"]],
  ["<form id=f action=/delete><input id=it class=c></form>", ["id f", "action /delete"]],
  ["<form id=f><input id=it type=submit></form>", ["id it", "id f"]],
  ["<form id=f><input id=it type=checkbox></form>", ["id f"]],
  [`<button id=it class='${long}'></button>`, ["id it", `class ${long}`.slice(0, 200)]],
])("the names in code of %s are %j", async (body, marks) => {
  expect((await readOn(body)).marks).toEqual([...marks]);
});

test.each<[string, Pick<Marks, "isPressed" | "leads">]>([
  ["<p id=it>x</p>", { isPressed: false, leads: "" }],
  ["<p id=it style='cursor:pointer'>x</p>", { isPressed: true, leads: "" }],
  ["<p id=it role=switch>x</p>", { isPressed: true, leads: "" }],
  ["<p id=it role=menuitemradio>x</p>", { isPressed: true, leads: "" }],
  ["<p id=it onclick='0'>x</p>", { isPressed: true, leads: "" }],
  ["<button><i id=it>x</i></button>", { isPressed: true, leads: "" }],
  ["<a href=/news><b id=it>x</b></a>", { isPressed: true, leads: "http://shop.example/news" }],
  ["<a id=it href=/news role=button>x</a>", { isPressed: true, leads: "" }],
  ["<a id=it href='javascript:pay()'>x</a>", { isPressed: true, leads: "" }],
  ["<a id=it>x</a>", { isPressed: true, leads: "" }],
])("%s is pressed and leads somewhere: %j", async (body, expected) => {
  expect(await readOn(body)).toMatchObject(expected);
});

test("a document has as many ways as it has elements to press or to choose", async () => {
  const body = "<a href=/x>x</a><select><option>1<option>2</select><p onclick='0'>y</p><p role=tab id=it>z</p><p>w</p>";
  expect((await readOn(body)).ways).toBe(6);
});

test("a label, its field and what is in it are told apart", async () => {
  expect(await readOn("<label id=it>Stay <input name=n></label>")).toMatchObject({ tag: "label", takesText: false });
  expect(await readOn("<label>Stay <input id=it name=n autocomplete=name></label>")).toMatchObject({
    tag: "input",
    type: "text",
    autocomplete: "name",
    names: ["n", "it"],
  });
  expect((await readOn("<label>Stay <b id=it>here</b></label>")).tag).toBe("label");
});
