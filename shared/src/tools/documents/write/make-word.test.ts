import { expect, test } from "bun:test";
import { zipContent } from "../read/zip-content.ts";
import { makeWord } from "./make-word.ts";

const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** The parts of a Word document of this HTML. */
async function made(html: string, title?: string) {
  const zip = await zipContent(await makeWord({ html, ...(title !== undefined && { title }) }));
  const part = async (path: string) => (await zip.text(path)) ?? "";
  const body = /<w:body>([\s\S]*)<w:sectPr/.exec(await part("word/document.xml"))?.[1] ?? "";
  return { zip, part, body, paragraphs: body.match(/<w:p>.*?<\/w:p>|<w:p\/>/gs) ?? [] };
}
/** What a paragraph says, with `[style]`, `{list level}` and `→` for an indent before it. */
function told(paragraph: string): string {
  const style = /<w:pStyle w:val="(\w+)"/.exec(paragraph)?.[1];
  const level = /<w:ilvl w:val="(\d)"/.exec(paragraph)?.[1];
  const indent = /<w:ind w:left="500"/.test(paragraph) ? "→" : "";
  const text = [...paragraph.matchAll(/<w:t(?: [^>]*)?>([^<]*)<\/w:t>|<w:br\/>/g)].map(([, word]) => word ?? "⏎");
  const marks = `${style?.startsWith("Heading") ? `[${style}]` : ""}${level === undefined ? "" : `{${level}}`}`;
  return `${marks}${indent}${text.join("")}`;
}
const said = async (html: string) => (await made(html)).paragraphs.map(told);
const listOf = (paragraph: string | undefined) => /<w:numId w:val="(\d+)"/.exec(paragraph ?? "")?.[1];

test("each kind of block becomes what it is, in order, and nothing gets lost", async () => {
  const levels = [1, 2, 3, 4, 5, 6];
  expect(await said(levels.map((level) => `<h${level}>H${level}</h${level}>`).join(""))).toEqual(
    levels.map((level) => `[Heading${level}]H${level}`),
  );
  expect(await said("<p>a</p><blockquote><p>q</p>\n<p>r</p></blockquote>\n<p>b</p><p></p>")).toEqual([
    "a",
    "→q",
    "→r",
    "b",
  ]);
  expect(await said("<pre><code>one\n  two\n\nthree\n</code></pre>")).toEqual(["one", "  two", "", "three"]);
  expect(await said("text <i>and</i>")).toEqual(["text ", "and"]);
  expect(await said("")).toEqual([""]);
  const tasks = '<ul><li><input type="checkbox" disabled>a</li><li><input type="checkbox" disabled checked>b</li></ul>';
  expect(await said(tasks)).toEqual(["{0}☐ a", "{0}☑ b"]);
  const { body } = await made("<p>a</p><hr><p>b</p>");
  expect(body.match(/<w:pBdr><w:bottom w:val="single"/g)).toHaveLength(1);
  // A heading stands on the page of what follows it.
  expect((await made("<h2>a</h2><p>b</p>")).paragraphs.map((one) => one.includes("<w:keepNext/>"))).toEqual([
    true,
    false,
  ]);
  const { paragraphs } = await made("<pre><code>x</code></pre><p>y</p>");
  expect(paragraphs.map((one) => /w:fill="F4F4F4"/.test(one))).toEqual([true, false]);
});

test("items of lists have the level of their list, and each numbered list begins anew", async () => {
  const nested = "<ul><li>a<ol><li>b<ul><li>c</li></ul></li></ol></li><li>d</li></ul>";
  const { paragraphs, part } = await made(`${nested}<ol><li>e</li><li>f</li></ol><ol><li>g</li></ol>`);
  expect(paragraphs.map(told)).toEqual(["{0}a", "{1}b", "{2}c", "{0}d", "{0}e", "{0}f", "{0}g"]);
  const [a, b, c, d, e, f, g] = paragraphs.map(listOf);
  expect([a === d, e === f]).toEqual([true, true]);
  expect(new Set([b, c, e, g]).size).toBe(4);
  const numbering = await part("word/numbering.xml");
  const formatOf = (id: string | undefined, level: number) => {
    const abstract = new RegExp(`<w:num w:numId="${id}"[^>]*><w:abstractNumId w:val="(\\d+)"`).exec(numbering)?.[1];
    const list = new RegExp(`<w:abstractNum w:abstractNumId="${abstract}"[\\s\\S]*?</w:abstractNum>`).exec(numbering);
    const found = new RegExp(
      `<w:lvl w:ilvl="${level}"[^>]*>.*?<w:numFmt w:val="(\\w+)"/>.*?<w:lvlText w:val="([^"]*)"`,
    ).exec(list?.[0] ?? "");
    return [found?.[1], found?.[2]];
  };
  expect([formatOf(a, 0), formatOf(c, 1), formatOf(b, 1), formatOf(e, 0)]).toEqual([
    ["bullet", "•"],
    ["bullet", "–"],
    ["decimal", "%2."],
    ["decimal", "%1."],
  ]);
  const deep = `${"<ul><li>x".repeat(10)}${"</li></ul>".repeat(10)}`;
  expect((await said(deep)).map((one) => one.slice(0, 3))).toEqual([..."0123456788"].map((level) => `{${level}}`));
});

test("a numbered list that goes on from another begins with its own number", async () => {
  const { paragraphs, part } = await made(
    '<ol><li>a</li></ol><p>b</p><ol start="2"><li>c<ol start="5"><li>d</li></ol></li></ol>',
  );
  expect(paragraphs.map(told)).toEqual(["{0}a", "b", "{0}c", "{1}d"]);
  const numbering = await part("word/numbering.xml");
  const startOf = (paragraph: string | undefined, level: number) => {
    const num = new RegExp(`<w:num w:numId="${listOf(paragraph)}".*?</w:num>`, "s").exec(numbering)?.[0] ?? "";
    const override = new RegExp(`<w:lvlOverride w:ilvl="${level}"><w:startOverride w:val="(\\d+)"`).exec(num)?.[1];
    const abstract = /<w:abstractNumId w:val="(\d+)"/.exec(num)?.[1];
    const list = new RegExp(`<w:abstractNum w:abstractNumId="${abstract}".*?</w:abstractNum>`, "s").exec(
      numbering,
    )?.[0];
    return override ?? new RegExp(`<w:lvl w:ilvl="${level}"[^>]*><w:start w:val="(\\d+)"`).exec(list ?? "")?.[1];
  };
  const [a, , c, d] = paragraphs;
  expect([startOf(a, 0), startOf(c, 0), startOf(d, 1)]).toEqual(["1", "2", "5"]);
});

test.each(["x", "-3", ""])("a list that would begin with %j begins with one", async (start) => {
  const { part } = await made(`<ol start="${start}"><li>a</li></ol>`);
  const starts = (await part("word/numbering.xml")).match(/<w:start(?:Override)? w:val="[^"]*"/g) ?? [];
  expect(starts.filter((one) => !one.endsWith('="1"'))).toEqual([]);
  expect(starts.length).toBeGreaterThan(0);
});

test("a list that begins with nought does so", async () => {
  const { part } = await made('<ol start="0"><li>a</li></ol>');
  expect(await part("word/numbering.xml")).toMatch(/<w:start(?:Override)? w:val="0"/);
});

test("what stands in an item beside its words follows them", async () => {
  expect(await said("<ol><li>a<pre><code>b</code></pre><blockquote>c</blockquote></li><li>d</li></ol>")).toEqual([
    "{0}a",
    "b",
    "→c",
    "{0}d",
  ]);
});

test("a table has its cells by row, a head that is one, and its columns where they stand", async () => {
  const { body } = await made(
    '<table><thead><tr><th>A</th><th align="right">B</th></tr></thead><tbody><tr><td align="center">1</td><td align="right"><b>2</b></td></tr></tbody></table><p>after</p>',
  );
  const rows = body.match(/<w:tr>.*?<\/w:tr>/gs) ?? [];
  expect(rows.map((row) => row.includes("<w:tblHeader/>"))).toEqual([true, false]);
  const cells = rows.flatMap((row) => row.match(/<w:tc>.*?<\/w:tc>/gs) ?? []);
  const about = cells.map((cell) => [
    told(cell),
    /<w:jc w:val="(\w+)"/.exec(cell)?.[1],
    /<w:b\/>/.test(cell),
    /w:fill="F0F0F0"/.test(cell),
  ]);
  expect(about).toEqual([
    ["A", "left", true, true],
    ["B", "right", true, true],
    ["1", "center", false, false],
    ["2", "right", true, false],
  ]);
  // Two tables in a row would become one.
  const { body: two } = await made("<table><tr><td>a</td></tr></table><table><tr><td>b</td></tr></table>");
  expect(two.match(/<\/w:tbl><w:p[/>]/g)).toHaveLength(2);
});

test("words look as they are marked, also within each other, and code keeps its blanks", async () => {
  const { body } = await made(
    "<p>a <strong>b<em>c</em></strong> <b>d</b><i>e</i> <del>f</del>\n<code>g  h</code>  i<br>j</p>",
  );
  const runs = [...body.matchAll(/<w:r>(?:<w:rPr>(.*?)<\/w:rPr>)?<w:t[^>]*>([^<]*)<\/w:t><\/w:r>/g)].map(
    ([, look = "", text]) => [text, [...look.matchAll(/<w:(b|i|strike|rFonts)[ /]/g)].map(([, name]) => name).join()],
  );
  expect(runs).toEqual([
    ["a ", ""],
    ["b", "b"],
    ["c", "b,i"],
    [" ", ""],
    ["d", "b"],
    ["e", "i"],
    [" ", ""],
    ["f", "strike"],
    ["g h", "rFonts"],
    [" i", ""],
    ["j", ""],
  ]);
  expect(body).toContain("<w:br/>");
  expect((await made("<pre><code>a  b</code></pre>")).body).toMatch(/w:ascii="Consolas".*>a {2}b</);
});

test("only links to web pages are links, with their words", async () => {
  const html =
    '<p><a href="https://a.example/?x=1&amp;y">web <b>page</b></a> <a href="mailto:a@b">mail</a> <a href="javascript:x">js</a> <a>none</a></p>';
  const { body, part } = await made(html);
  const links = body.match(/<w:hyperlink.*?<\/w:hyperlink>/gs) ?? [];
  expect(links.map(told)).toEqual(["web page"]);
  expect(links[0]?.match(/<w:rStyle w:val="Hyperlink"\/>/g)).toHaveLength(2);
  expect(told(body)).toBe("web page mail js none");
  const targets = (await part("word/_rels/document.xml.rels")).match(/Target="http[^"]*"|Target="(?:mailto|js)[^"]*"/g);
  expect(targets).toEqual(['Target="https://a.example/?x=1&amp;y"']);
});

/** A picture of these bytes with its size in pixels; only its head is right. */
const png = (width: number, height: number) => {
  const head = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
  const size = Buffer.alloc(16);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  return `data:image/png;base64,${Buffer.concat([head, size]).toString("base64")}`;
};

test.each([
  [300, 200, 300, 200],
  [1200, 600, 600, 300],
  [600, 1600, 300, 800],
  [6000, 1000, 600, 100],
])("a picture of %d by %d pixels is shown with %d by %d", async (width, height, shownWidth, shownHeight) => {
  const { body, zip } = await made(`<p><img src="${png(width, height)}" alt="A plan"></p>`);
  expect(body).toContain(`<wp:extent cx="${shownWidth * 9525}" cy="${shownHeight * 9525}"/>`);
  expect(body).toMatch(/<wp:docPr [^>]*descr="A plan"/);
  expect(zip.entries.filter(({ path }) => /^word\/media\/.*\.png$/.test(path))).toHaveLength(1);
});

test("pictures that Word cannot show, and damaged ones, are refused", async () => {
  const image = (type: string, content: string) =>
    makeWord({ html: `<img src="data:${type};base64,${Buffer.from(content).toString("base64")}">` });
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>';
  await expect(image("image/svg+xml", svg)).rejects.toMatchObject({
    code: "unsupported",
    message: "A picture in a Word document is a PNG, JPEG or GIF; draw a chart as png.",
  });
  await expect(image("image/png", "nothing")).rejects.toMatchObject({
    code: "unsupported",
    message: "A picture in the document is damaged.",
  });
});

test("a document has its title, if there is one, and says who made it", async () => {
  expect(await (await made("<p>x</p>", "A & B")).part("docProps/core.xml")).toMatch(
    /<dc:title>A &amp; B<\/dc:title>.*<dc:creator>Manyhands<\/dc:creator>/,
  );
  expect(await (await made("<p>x</p>")).part("docProps/core.xml")).not.toContain("<dc:title>");
});

test("a page ends where the document says so, and a picture has the size it is given", async () => {
  const { body } = await made('<p>a</p><hr class="page-break"><p>b</p>');
  expect(body).toMatch(/<w:br w:type="page"\/>/);
  const sized = async (style: string) => {
    const { body } = await made(`<p><img src="data:image/png;base64,${onePixel}" style="${style}"></p>`);
    return /<wp:extent cx="(\d+)" cy="(\d+)"/
      .exec(body)
      ?.slice(1)
      .map((emu) => Number(emu) / 9525);
  };
  expect(await sized("")).toEqual([1, 1]);
  expect(await sized("width: 50%")).toEqual([300, 300]);
  expect(await sized("width: 1in; height: 2in")).toEqual([96, 192]);
  expect(await sized("height: 2in")).toEqual([192, 192]);
  expect(await sized("width: 90in")).toEqual([600, 600]);
});
