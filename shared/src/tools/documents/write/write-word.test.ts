import { expect, spyOn, test } from "bun:test";
import * as running from "../../../machine/process/run-own-script.ts";
import * as extracting from "../extract-document.ts";
import { readBackWord } from "./read-back-word.ts";
import { writeWord } from "./write-word.ts";

test("a Word document is made by a script of ours within a minute and 1 GB, as long as its task goes on", async () => {
  const content = Buffer.from("made").toString("base64");
  using run = spyOn(running, "runOwnScript").mockResolvedValue({ content });
  const { signal } = new AbortController();
  const request = { title: "T", html: "<p>x</p>" };
  expect(Buffer.from(await writeWord(request, signal)).toString()).toBe("made");
  const [asked] = run.mock.calls[0] ?? [];
  expect(asked).toMatchObject({
    script: expect.stringMatching(/\/write\/word-worker\.ts$/),
    subject: "Writing the document",
    deadlineMs: 60_000,
    memoryBytes: 2 ** 30,
  });
  expect([asked?.signal === signal, await new Response(asked?.stdin as Blob).json()]).toEqual([true, request]);
});

test("a picture that cannot be placed is told as such", async () => {
  const html = '<p><img src="data:image/png;base64,AAAA"></p>';
  await expect(writeWord({ html }, new AbortController().signal)).rejects.toMatchObject({
    code: "unsupported",
    message: "A picture in the document is damaged.",
  });
});

const html = '<h1>A</h1><h6 id="b">B</h6><header>no</header><table><tr></tr></table><img src="a"><img src="b">';
const text = "# A\n\n###### B\n\n#no\n\n|  |  |\n| --- | --- |\n\n[picture][picture: b]";

async function readBack(read: string) {
  const extract = { about: "Word document", text: read, pictures: [], html: "<p>read</p>" };
  using spy = spyOn(extracting, "extractDocument").mockResolvedValue(extract);
  const { signal } = new AbortController();
  const result = await readBackWord(html, Buffer.from("word"), signal);
  const [content, request, passed] = spy.mock.calls[0] ?? [];
  expect([await (content as Blob).text(), request, passed === signal]).toEqual([
    "word",
    { name: "written.docx", from: 0, characters: 20_000_000, scans: "draw" },
    true,
  ]);
  return result;
}

test("a document that holds what it was made of is told by what it holds, and drawn as read", async () => {
  const { told, page } = await readBack(text);
  expect(told).toBe(`2 headings, 1 table, 2 pictures, ${text.length} characters`);
  expect(page).toContain("<p>read</p>");
  expect(page).toContain("default-src 'none'");
  expect((await readBack(`${text}\n## more\n| --- |\n[picture]`)).told).toStartWith("3 headings, 2 tables, 3 pictures");
});

test.each([
  ["heading", text.replace("# A", "A")],
  ["table", text.replace("| --- | --- |", "")],
  ["picture", text.replace("[picture]", "")],
])("a document that lacks a %s of what it was made of is an error", async (_, read) => {
  await expect(readBack(read)).rejects.toMatchObject({
    code: "internal",
    message: expect.stringMatching(/^Only \d headings?, \d tables?, \d pictures? of the content could be read back\.$/),
  });
});
