import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { truncate } from "node:fs/promises";
import { join } from "node:path";
import { workspaceForTest } from "../../../testing/machine/workspace.ts";
import * as drawing from "./drawn-charts.ts";
import { embeddedBody, embeddedPage } from "./embedded-page.ts";

let place: Awaited<ReturnType<typeof workspaceForTest>>;
beforeAll(async () => {
  place = await workspaceForTest();
  await Bun.write(file("a b.png"), "one");
  await Bun.write(file("c&d.gif"), "two");
});
afterAll(() => place[Symbol.asyncDispose]());

const file = (path: string) => join(place.workspace.root, path);
const context = () => ({ workspace: place.workspace, signal: new AbortController().signal });
const body = (markdown: string, title?: string) => embeddedBody({ markdown, title, language: "en" }, context(), "svg");
const data = (text: string) => Buffer.from(text).toString("base64");

test("pictures of the workspace are in the document itself, whatever their names, each as often as it is named", async () => {
  const html = await body("![x](a%20b.png) ![y](<c&d.gif>) ![z](a%20b.png)");
  expect(html.match(/src="[^"]*"/g)).toEqual([
    `src="data:image/png;base64,${data("one")}"`,
    `src="data:image/gif;base64,${data("two")}"`,
    `src="data:image/png;base64,${data("one")}"`,
  ]);
});

test.each([
  ["[x](https://a.example/)", 'href="https://a.example/"'],
  ["[x](#here)", 'href="#here"'],
  ["[x](javascript:alert(1))", undefined],
  ["[x](JavaScript:alert(1))", undefined],
  ["[x](data:text/html,x)", undefined],
  ["[x](file:///etc/passwd)", undefined],
  ["[x](other.html)", undefined],
])("of the link %s there is %p", async (markdown, link) => {
  expect((await body(markdown)).match(/href="[^"]*"/)?.[0]).toBe(link as string);
});

test("HTML is text in title and content, and a page is called by its title or else its first heading", async () => {
  const html = await body("<b onclick=x>bold</b>\n\n<div>block</div>", "<i>T</i>");
  expect(html).toStartWith("<h1>&lt;i&gt;T&lt;/i&gt;</h1>\n");
  expect(html).not.toMatch(/<(?:b|div|i)[ >]/);
  const called = async (markdown: string, title?: string) =>
    /<title>(.*)<\/title>/.exec(await embeddedPage({ markdown, title, language: "en" }, context()))?.[1];
  expect([await called("## A *b* & \\<c>\n\n# Next"), await called("# A", "B"), await called("x")]).toEqual([
    "A b &amp; &lt;c&gt;",
    "B",
    "Document",
  ]);
});

test.each([
  ["http://a.example/x.png", "is not an image file of the workspace"],
  ["HTTP://a.example/x.png", "is not an image file of the workspace"],
  ["data:image/png;base64,x", "is not an image file of the workspace"],
  ["visualization/sales.html", "of the workspace. A chart as a picture is drawn with output_type png."],
  ["notes.txt", "is not an image file of the workspace"],
  ["none.png", "none.png"],
  ["%2e%2e/%2e%2e/x.png", "outside the workspace"],
])("the picture %s is refused", async (path, message) => {
  await expect(body(`![x](${path})`)).rejects.toThrow(message);
});

test("a picture has 5 MB at most, and all of them 20 MB as they are written", async () => {
  const sizes = { "full.png": 5 * 1024 ** 2, "over.png": 5 * 1024 ** 2 + 1 };
  for (const [name, size] of Object.entries(sizes)) {
    await Bun.write(file(name), "");
    await truncate(file(name), size);
  }
  expect((await body("![x](full.png)")).length).toBeGreaterThan(6_900_000);
  await expect(body("![x](over.png)")).rejects.toMatchObject({ code: "too_large" });
  for (const name of ["1.png", "2.png", "3.png"]) {
    await Bun.write(file(name), "");
    await truncate(file(name), 5 * 1024 ** 2);
  }
  await expect(body("![x](1.png) ![x](2.png) ![x](3.png)")).rejects.toThrow("larger than 20 MB together");
});

test.each([
  ["zh", "zh"],
  ["de", "en"],
])("a page in %s has its charts drawn in %s, as drawings, as long as its task goes on", async (language, expected) => {
  using draw = spyOn(drawing, "drawCharts").mockImplementation(async (html) => `${html}drawn`);
  const { workspace, signal } = context();
  const page = await embeddedPage({ markdown: "x", title: undefined, language }, { workspace, signal });
  expect(page).toContain("<p>x</p>\ndrawn");
  const [, options] = draw.mock.calls[0] ?? [];
  expect([options?.pictures, options?.language, options?.signal === signal]).toEqual(["svg", expected as never, true]);
});

test("pandoc's page breaks and sizes of pictures take effect, and nothing else in braces or after a picture", async () => {
  for (const end of [
    "\\newpage",
    "\\pagebreak",
    '<div style="page-break-after: always"></div>',
    '<p style="break-after: page;"></p>',
  ])
    expect(await body(`a\n\n${end}\n\nb`)).toBe('<p>a</p>\n<hr class="page-break" />\n<p>b</p>\n');
  const styled = async (given: string) =>
    /<img src="[^"]*" alt="x"(.*)<\/p>/.exec(await body(`![x](a%20b.png)${given}`))?.[1];
  expect(await styled("{width=60%}")).toBe(' style="width: 60%" />');
  expect(await styled('{#fig .wide width="5cm" height=3in }')).toBe(' style="width: 5cm; height: 3in" />');
  expect(await styled("{width=300}")).toBe(' style="width: 300px" />');
  expect(await styled("{.wide}")).toBe(" />");
  expect(await styled("{a note}")).toBe(" />{a note}");
  expect(await styled('{width="1;x:url(a)"}')).toBe(' style="width: 1px" />');
  expect(await body("`\\newpage` and \\newpage")).not.toContain("page-break");
});
