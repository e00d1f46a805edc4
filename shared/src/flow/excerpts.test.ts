import { expect, test } from "bun:test";
import type { Run } from "../core/runs/run.ts";
import type { StoredFile } from "../core/workspace.ts";
import { wordOf } from "../testing/documents.ts";
import { pdf } from "../testing/web/pdf.ts";
import { extractDocument } from "../tools/documents/extract-document.ts";
import { readExcerpts } from "./excerpts.ts";

type Content = string | Uint8Array<ArrayBuffer>;

/** What a flow is shown of files with these contents; a file without one is gone. */
async function shown(contents: Readonly<Record<string, Content | undefined>>, signal = AbortSignal.any([])) {
  const steps: string[] = [];
  const run = {
    abortSignal: signal,
    step: (name: string, act: () => unknown, { effect = "once" } = {}) => {
      steps.push(`${name}: ${effect}`);
      return act();
    },
  } as unknown as Run;
  const files = Object.keys(contents).map(
    (name): StoredFile => ({ name, sha256: name, mediaType: Bun.file(name).type.split(";")[0] ?? "", size: 1 }),
  );
  const get = async (sha256: string) => {
    const content = contents[sha256];
    return content === undefined ? undefined : new Blob([content]);
  };
  const excerpts = await readExcerpts(run, files, { artifacts: { get }, readDocument: extractDocument });
  return { steps, texts: excerpts.map(({ text }) => text), names: excerpts.map(({ name, size }) => [name, size]) };
}

test("the beginnings and ends of eight files are read and recorded once, and all are named", async () => {
  const names = ["a", "gone", "binary", "long", "exact", "f", "g", "h", "i"];
  const {
    steps,
    texts,
    names: named,
  } = await shown({
    ...Object.fromEntries(names.map((name) => [name, name])),
    ...{ gone: undefined, binary: "a\0b", exact: "y".repeat(4_000) },
    long: `${"x".repeat(3_000)}😀${"-".repeat(900)}${"y".repeat(1_000)}`,
  });
  const long = `${"x".repeat(3_000)}\n[904 bytes left out]\n${"y".repeat(1_000)}`;
  expect(texts).toEqual(["a", undefined, undefined, long, "y".repeat(4_000), "f", "g", "h", undefined]);
  expect(named).toEqual(names.map((name) => [name, 1]));
  expect(steps).toEqual(["excerpts: pure"]);
  expect(await shown({})).toEqual({ steps: [], texts: [], names: [] });
});

test("half a character where a file is cut is left out", async () => {
  const { texts } = await shown({ a: `${"x".repeat(6_999)}é${"-".repeat(900)}é${"y".repeat(999)}` });
  expect(texts).toEqual([`${"x".repeat(6_999)}\n[902 bytes left out]\n${"y".repeat(999)}`]);
});

test("a text that is not UTF-8 is read in the western encoding of spreadsheets, its end too", async () => {
  const western = (text: string) => Buffer.from(text, "latin1");
  const { texts } = await shown({
    short: western("Größe;1\n"),
    mixed: Buffer.concat([Buffer.from("Größe Ä;1\n"), western("ß")]),
    long: western(`ö${"x".repeat(7_998)}${"y".repeat(900)}ü`),
    late: western(`${"x".repeat(8_000)}${"y".repeat(900)}ü`),
  });
  const long = (begin: string, leftOut: number) =>
    `${begin}${"x".repeat(5_000 - begin.length)}\n[${leftOut} bytes left out]\n${"x".repeat(99)}${"y".repeat(900)}ü`;
  expect(texts).toEqual(["Größe;1\n", "Größe Ä;1\n\ufffd", long("ö", 2900), long("", 2901)]);
});

test("the fewer the files, the more is shown of each", async () => {
  const sizes = async (count: number) => {
    const names = Array.from({ length: count }, (_, at) => [`${at}`, "x".repeat(9_000)]);
    const { texts } = await shown(Object.fromEntries(names));
    return new Set(texts.map((text) => text?.replace(/\n\[.*\]\n/, "").length));
  };
  expect([await sizes(1), await sizes(4), await sizes(8)]).toEqual([
    new Set([8_000]),
    new Set([6_000]),
    new Set([4_000]),
  ]);
});

test("of a document is shown what it says, as far as there is room, and of a picture nothing", async () => {
  const { texts } = await shown({
    "memo.docx": (await wordOf("The total is 1,234.")) as Uint8Array<ArrayBuffer>,
    "long.docx": (await wordOf("word ".repeat(2_000))) as Uint8Array<ArrayBuffer>,
    "offer.pdf": pdf("Twelve centrifuges"),
    "offer.eml": "Subject: Offer\nContent-Transfer-Encoding: quoted-printable\n\nIt costs =E2=82=AC5.",
    "notes.html": "<p>As it is",
    "dot.png": "\x89PNG\r\n\x1a\n\0",
  });
  expect(texts[0]).toMatch(/^\(Word document.*\)\n[\s\S]*The total is 1,234\./);
  expect(texts[1]).toEndWith("\n[cut off]");
  expect(texts[1]?.length).toBeWithin(3_500, 4_200);
  expect(texts[2]).toMatch(/^\(PDF, 1 page\)\n[\s\S]*Twelve centrifuges/);
  expect(texts[3]).toContain("It costs €5.");
  expect(texts.slice(4)).toEqual(["<p>As it is", undefined]);
});

test("a document that is too large is only named, and who gives up does not wait for one", async () => {
  const large = Buffer.alloc(20 * 2 ** 20 + 1);
  large.write("%PDF-1.7\0");
  expect((await shown({ "large.pdf": large })).texts).toEqual([undefined]);
  const word = (await wordOf("x")) as Uint8Array<ArrayBuffer>;
  await expect(shown({ "a.docx": word }, AbortSignal.abort(new Error("given up")))).rejects.toThrow("given up");
});
