import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { truncate } from "node:fs/promises";
import { join } from "node:path";
import type { ToolContext } from "../../core/tools/tool.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import * as showing from "../files/shown-image.ts";
import type { DocumentExtract } from "./document-protocol.ts";
import * as extracting from "./extract-document.ts";
import { readDocument } from "./read-document.ts";

let place: Awaited<ReturnType<typeof workspaceForTest>>;
beforeAll(async () => {
  place = await workspaceForTest();
  await Bun.write(file("sub/a b.pdf"), "x");
});
afterAll(() => place[Symbol.asyncDispose]());

const file = (path: string) => join(place.workspace.root, path);
/** What the tool asks for, and says of this extract. */
async function read(
  asked: { readonly path?: string; readonly [name: string]: unknown } = {},
  context: Partial<ToolContext> = {},
  extract: Partial<DocumentExtract> = {},
) {
  const whole = { about: "PDF", text: "x", pictures: [], ...extract };
  using spy = spyOn(extracting, "extractDocument").mockResolvedValue(whole);
  const input = { path: "sub/a b.pdf", part: null, find: null, from: null, max_characters: null, ...asked };
  const result = await readDocument.call(input, contextForTest(place.workspace, context));
  const [content, request, signal] = spy.mock.calls[0] ?? [];
  return { result, content, request, signal };
}

const usual = { name: "a b.pdf", from: 0, characters: 10_000, scans: "show" };
/** Of the whole, unless another length was asked for or there is no room for more. */
const whole = { ...usual, beginning: 3_000 };
test.each<[Readonly<Record<string, unknown>>, Partial<ToolContext>, object]>([
  [{}, {}, whole],
  [{ part: "3-", from: 12 }, {}, { ...usual, part: "3-", from: 12 }],
  [{ part: "3-" }, {}, { ...usual, part: "3-" }],
  [{ from: 12 }, {}, { ...usual, from: 12 }],
  [{ max_characters: 10_000 }, {}, usual],
  [{ max_characters: 2_000 }, {}, { ...usual, characters: 2_000 }],
  // What stands around the text has room in the result too.
  [{}, { resultCharacters: 5_000 }, { ...usual, characters: 4_400 }],
  [{}, { resultCharacters: 700 }, { ...usual, characters: 500 }],
  [{}, { vision: true }, whole],
  [{}, { vision: false }, { ...whole, scans: "recognise" }],
  // So has what is looked for.
  [
    { find: ["x".repeat(90), "y".repeat(200)] },
    { resultCharacters: 5_000 },
    { ...usual, characters: 4_090, find: ["x".repeat(90), "y".repeat(200)], scans: "name" },
  ],
  // Pages without text are not shown where something is looked for.
  [{ find: " fee " }, { vision: true }, { ...usual, find: ["fee"], scans: "name" }],
  [{ find: ["fee", " late  fee "] }, {}, { ...usual, find: ["fee", "late  fee"], scans: "name" }],
  [{ find: "fee", part: "2-" }, { vision: false }, { ...usual, part: "2-", find: ["fee"], scans: "name" }],
])("a call with %j and %j reads as much as its result has room for", async (asked, context, expected) => {
  const { signal } = new AbortController();
  const { request, content, signal: passed } = await read(asked, { ...context, signal });
  expect(request).toEqual(expected as never);
  expect([typeof content, passed === signal]).toEqual(["number", true]);
});

const marked = (text: string) => `<document-content from="sub/a b.pdf">\n${text}\n</document-content>`;
test.each<[Partial<DocumentExtract>, string, string, string]>([
  [{}, "", "x", ""],
  [{ shown: { first: "text", last: "text" } }, "", "x", ""],
  [{ shown: { first: "page 1", last: "page 1" } }, " Shown: page 1.", "x", ""],
  [{ shown: { first: "page 1", last: "page 3" } }, " Shown: page 1 to page 3.", "x", ""],
  [{ shown: { first: "text", last: "page 3" } }, " Shown: text to page 3.", "x", ""],
  [{ places: [] }, "", "x", ""],
  [{ places: ["page 1", "page 134", "page 138"] }, " Passages: page 1, 134, 138.", "x", ""],
  [{ places: ["#1 row 2", "#1 row 10", "#2 row 10"] }, " Passages: #1 row 2, 10; #2 row 10.", "x", ""],
  [{ text: " \n " }, "", "(It has no text.)", ""],
  [{ text: "\u0007a\u202eb " }, "", "ab", ""],
  [{ next: { part: "4-9" } }, "", "x", '\n[There is more: look for a text with find, or go on with part "4-9".]'],
  [{ next: { part: "4-4" } }, "", "x", '\n[There is more: look for a text with find, or go on with part "4".]'],
  [
    { next: { part: "4-44", from: 9 } },
    "",
    "x",
    '\n[There is more: look for a text with find, or go on with part "4-44" and from 9.]',
  ],
  [{ next: { part: "", from: 500 } }, "", "x", "\n[There is more: look for a text with find, or go on with from 500.]"],
])("of the extract %j it is said what it is, what is shown and how to go on", async (extract, shown, text, more) => {
  const { result } = await read({}, {}, extract);
  expect(result).toEqual({ text: `sub/a b.pdf: PDF.${shown}\n${marked(text)}${more}`, isError: false });
});

test("of several texts it is told how often each was found, of one the passages tell it", async () => {
  const found = { places: ["page 1"], found: [12, 0] };
  const { result } = await read({ find: ["fee", 'the "rent"'] }, {}, found);
  expect(result.text).toStartWith('sub/a b.pdf: PDF. Found: "fee" 12, "the \\"rent\\"" 0. Passages: page 1.\n');
  const one = await read({ find: "fee" }, {}, { places: ["page 1"], found: [1] });
  expect(one.result.text).toStartWith("sub/a b.pdf: PDF. Passages: page 1.\n");
});

test("what was looked for is to be looked for again where there is more, and nothing else is looked for", async () => {
  const { result } = await read({ find: "fee" }, {}, { next: { part: "4-9" } });
  expect(result.text).toEndWith('\n[There is more: go on with part "4-9", and the same find.]');
  const next = { part: "4-9" };
  const image = { mediaType: "image/jpeg", data: "" } as const;
  for (const other of [await read({ part: "3-9" }, {}, { next }), await read({}, {}, { next, pictures: [image] })])
    expect(other.result.text).toEndWith('\n[There is more: go on with part "4-9".]');
});

test("a document has up to 200 MB", async () => {
  await Bun.write(file("large.pdf"), "x");
  await truncate(file("large.pdf"), 200 * 2 ** 20);
  expect((await read({ path: "large.pdf" })).result.isError).toBe(false);
  await truncate(file("large.pdf"), 200 * 2 ** 20 + 1);
  const { result, request } = await read({ path: "large.pdf" });
  expect([result.isError, request]).toEqual([true, undefined as never]);
  expect(result.text).toBe(`large.pdf has ${200 * 2 ** 20 + 1} bytes; a document may have up to 200 MB.`);
});

test("a picture is shown before those of its pages, whole, to a model that sees, and only up to 20 MB", async () => {
  const png = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.from("rest of it")]);
  await Bun.write(file("a.png"), png);
  const made = { mediaType: "image/jpeg", data: "own" } as const;
  using show = spyOn(showing, "showImage").mockImplementation(async () => made as never);
  const page = { mediaType: "image/png", data: "cGFnZQ==" } as const;
  const images = async (path: string, vision?: boolean) =>
    (await read({ path }, vision === undefined ? {} : { vision }, { pictures: [page] })).result.images?.map(
      ({ data }) => data,
    );
  expect(await images("a.png")).toEqual(["own", page.data]);
  expect(Buffer.from(show.mock.calls[0]?.[0] as Uint8Array).equals(png)).toBe(true);
  expect(await images("a.png", false)).toEqual([page.data]);
  expect(await images("sub/a b.pdf")).toEqual([page.data]);
  await truncate(file("a.png"), 20 * 2 ** 20);
  expect(await images("a.png")).toEqual(["own", page.data]);
  await truncate(file("a.png"), 20 * 2 ** 20 + 1);
  expect(await images("a.png")).toEqual([page.data]);
});
