import { afterAll, beforeAll, expect, test } from "bun:test";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import type { Workspace } from "../../shared/src/core/workspace.ts";
import { wordOf, zipOf } from "../../shared/src/testing/documents.ts";
import { workspaceForTest } from "../../shared/src/testing/machine/workspace.ts";
import { contextForTest } from "../../shared/src/testing/tool-context.ts";
import { readDocument } from "../../shared/src/tools/documents/read-document.ts";
import { type Site, startSite } from "../agents/browser-site.ts";

const secret = "canary-5d21c0aa";

let place: Awaited<ReturnType<typeof workspaceForTest>>;
let workspace: Workspace;
let evil: Site;
beforeAll(async () => {
  evil = startSite(() => "<h1>Thank you</h1>");
  place = await workspaceForTest();
  workspace = place.workspace;
  await Bun.write(join(place.home, "secret.txt"), secret);
});
afterAll(async () => {
  await place[Symbol.asyncDispose]();
  await evil.stop();
});

async function read(path: string, content: string | Uint8Array, asked: object = {}) {
  await Bun.write(join(workspace.root, path), content);
  return readDocument.call({ path, part: null, from: null, max_characters: null, ...asked }, contextForTest(workspace));
}

const entities = () =>
  `<!DOCTYPE x [<!ENTITY file SYSTEM "file://${place.home}/secret.txt"><!ENTITY net SYSTEM "${evil.origin}/e">${bomb}]>`;
/** A billion laughs. */
const bomb = Array.from({ length: 9 }, (_, at) => `<!ENTITY b${at + 1} "${`&b${at};`.repeat(10)}">`)
  .join("")
  .replace("<!ENTITY", '<!ENTITY b0 "laugh"><!ENTITY');
const used = "before &file; &net; &b9; after";
const styles = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";

/** A Word document whose body is this paragraph, with these relationships to the outside. */
const word = (prolog: string, text: string, outside = "") =>
  zipOf([
    ["[Content_Types].xml", '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'],
    [
      "_rels/.rels",
      '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
    ],
    [
      "word/_rels/document.xml.rels",
      `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${outside}</Relationships>`,
    ],
    [
      "word/document.xml",
      `${prolog}<w:document xmlns:w="${styles}"><w:body><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:body></w:document>`,
    ],
  ]);

test("no entity, template or picture that a document names is loaded, and none unfolds without end", async () => {
  const outside = ["attachedTemplate", "image", "oleObject", "frame"]
    .map(
      (type, at) =>
        `<Relationship Id="x${at}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${evil.origin}/${type}" TargetMode="External"/>`,
    )
    .join("");
  const slide = `${entities()}<p:sld><p:sp><p:txBody><a:p><a:r><a:t>${used}</a:t></a:r></a:p></p:txBody></p:sp></p:sld>`;
  const documents: readonly (readonly [string, string | Uint8Array])[] = [
    ["entities.docx", word(entities(), used, outside)],
    ["plain.docx", word("", "before after", outside)],
    [
      "a.pptx",
      zipOf([
        ["ppt/presentation.xml", '<p:presentation><p:sldId r:id="r1"/></p:presentation>'],
        [
          "ppt/_rels/presentation.xml.rels",
          '<Relationships><Relationship Id="r1" Target="slides/s.xml"/></Relationships>',
        ],
        ["ppt/slides/s.xml", slide],
      ]),
    ],
    [
      "a.html",
      `<p>before after ${"x ".repeat(200)}</p><img src="${evil.origin}/i"><iframe src="${evil.origin}/f"></iframe><link rel=stylesheet href="${evil.origin}/c">`,
    ],
    [
      "a.eml",
      `From: a@b.example\nSubject: x\nMIME-Version: 1.0\nContent-Type: text/html\n\n<p>before after</p><img src="${evil.origin}/pixel">`,
    ],
  ];
  for (const [name, content] of documents) {
    const { text } = await read(name, content);
    expect([name, text.includes(secret), /laugh/.test(text), text.length < 20_000]).toEqual([name, false, false, true]);
  }
  expect((await read("plain.docx", word("", "before after", outside))).text).toContain("before after");
  expect(evil.requests).toEqual([]);
});

test("an archive that claims too much is refused, and one that lies ends with its reading", async () => {
  const blown = await deflated("word/document.xml", 600);
  const { text, isError } = await read("claims.docx", blown);
  expect([isError, text]).toEqual([true, "It unpacks to 600 MB, more than the 400 MB that are read."]);
  const lie = Buffer.from(blown);
  lie.writeUInt32LE(10, lie.lastIndexOf("PK\x01\x02") + 24);
  lie.writeUInt32LE(10, 22);
  const lied = await read("lie.docx", lie);
  expect(lied.isError).toBe(true);
  expect((await read("after.docx", await wordOf("still here"))).text).toContain("still here");
});

/** A zip archive with one entry of so many megabytes of blanks. */
async function deflated(path: string, megabytes: number): Promise<Uint8Array> {
  const program = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new:
    with new.open(sys.argv[2], "w", force_zip64=False) as entry:
        for _ in range(int(sys.argv[3])):
            entry.write(b" " * 1048576)
`;
  const target = join(place.home, "blown.zip");
  const child = Bun.spawn(["python3", "-c", program, target, path, String(megabytes)], { stderr: "inherit" });
  expect(await child.exited).toBe(0);
  return Bun.file(target).bytes();
}

test("a path in or to a document leads nowhere else", async () => {
  await symlink(join(place.home, "secret.txt"), join(workspace.root, "innocent.pdf"));
  for (const path of ["innocent.pdf", "../../secret.txt", join(place.home, "secret.txt")]) {
    const asked = { path, part: null, from: null, max_characters: null };
    const { text, isError } = await readDocument.call(asked, contextForTest(workspace));
    expect([path, isError, text.includes(secret)]).toEqual([path, true, false]);
  }
  // What an archive has inside is told by its name, and taken from the archive alone.
  const leading = zipOf([
    ["../../../escaped.txt", "x"],
    ["../../secret.txt", "inside"],
  ]);
  const listed = await read("paths.zip", leading);
  expect([listed.isError, listed.text.includes("- ../../secret.txt (6 bytes)")]).toEqual([false, true]);
  for (const part of ["../../../escaped.txt", "../../secret.txt"]) {
    const { text } = await read("paths.zip", leading, { part });
    expect([part, text.includes(secret)]).toEqual([part, false]);
  }
  expect(await Bun.file(join(place.home, "escaped.txt")).exists()).toBe(false);
});
