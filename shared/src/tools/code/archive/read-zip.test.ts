import { afterAll, expect, test } from "bun:test";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readZip } from "./read-zip.ts";

const folder = await mkdtemp(join(tmpdir(), "manyhands-zip-"));
afterAll(() => rm(folder, { recursive: true }));

const unix = 3 << 8;
const dos = 0;
type Entry = {
  readonly name: string | Buffer;
  readonly madeBy?: number;
  readonly mode?: number;
  readonly flags?: number;
  readonly method?: number;
};

/** A zip file whose entries all hold `text`, as it is. */
function zipOf(entries: readonly Entry[], text = "text"): Buffer {
  const plain = Buffer.from(text);
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  for (const { name, madeBy = unix, mode = 0o100644, flags = 0, method = 0 } of entries) {
    // What is encrypted begins with twelve bytes more.
    const content = (flags & 1) === 0 ? plain : Buffer.concat([Buffer.alloc(12), plain]);
    const at = Buffer.concat(locals).length;
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(flags, 2);
    common.writeUInt16LE(method, 4);
    common.writeUInt32LE(Bun.hash.crc32(plain), 10);
    common.writeUInt32LE(content.length, 14);
    common.writeUInt32LE(plain.length, 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    locals.push(Buffer.from("PK\x03\x04"), common, Buffer.from(name), content);
    const more = Buffer.alloc(14);
    more.writeUInt32LE((mode << 16) >>> 0, 6);
    more.writeUInt32LE(at, 10);
    const version = Buffer.alloc(2);
    version.writeUInt16LE(madeBy | 20);
    directory.push(Buffer.from("PK\x01\x02"), version, common, more, Buffer.from(name));
  }
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(Buffer.concat(directory).length, 8);
  end.writeUInt32LE(Buffer.concat(locals).length, 12);
  return Buffer.concat([...locals, ...directory, Buffer.from("PK\x05\x06"), end]);
}

async function read(entries: readonly Entry[], text?: string) {
  const path = join(folder, crypto.randomUUID());
  await writeFile(path, zipOf(entries, text));
  await using file = await open(path);
  const found: unknown[] = [];
  for await (const { path, kind, executable, target, content } of readZip(file.fd)) {
    const bytes = Buffer.concat(await Array.fromAsync(content()));
    found.push([path, kind, executable, target ?? bytes.toString()]);
  }
  return found;
}

test("an entry's kind and permissions count where Unix wrote them, and nowhere else", async () => {
  expect(
    await read([
      { name: "plain", mode: 0o100654 },
      { name: "program", mode: 0o100744 },
      { name: "folder/", mode: 0o040755 },
      { name: "link", mode: 0o120777 },
      { name: "pipe", mode: 0o010644 },
      { name: "kindless", mode: 0o755 },
      { name: "of Windows", mode: 0o120777, madeBy: dos },
    ]),
  ).toEqual([
    ["plain", "file", false, "text"],
    ["program", "file", true, "text"],
    ["folder/", "folder", true, ""],
    ["link", "symlink", true, "text"],
    ["pipe", "special", false, ""],
    ["kindless", "file", true, "text"],
    ["of Windows", "file", false, "text"],
  ]);
});

test("names come as they are, also those that lead elsewhere, and are judged by who writes files", async () => {
  const names = ["../evil", "/etc/evil", "a\\b", "c:/d", "good"];
  expect((await read(names.map((name) => ({ name })))).map((entry) => (entry as unknown[])[0])).toEqual(names);
});

test.each<[number, boolean]>([
  [4096, true],
  [4097, false],
])("a link to a target of %d characters is read: %p", async (length, isRead) => {
  const reading = read([{ name: "link", mode: 0o120777 }], "t".repeat(length));
  if (isRead) expect(await reading).toEqual([["link", "symlink", true, "t".repeat(length)]]);
  else await expect(reading).rejects.toMatchObject({ code: "rejected" });
});

test("a name is UTF-8 where it can be, whatever the archive says, and else what MS-DOS wrote", async () => {
  const names = ["Grüße/日本語.txt", Buffer.from("\x9abersicht", "latin1"), Buffer.from("\xdcbersicht", "latin1")];
  expect((await read(names.map((name) => ({ name })))).map((entry) => (entry as unknown[])[0])).toEqual([
    ...["Grüße/日本語.txt", "Übersicht", "▄bersicht"],
  ]);
  const [marked] = (await read([{ name: "Grüße", flags: 0x800 }])) as unknown[][];
  expect(marked?.[0]).toBe("Grüße");
});

test.each<[string, Code, string[]]>([
  ["Japanese", "shift_jis", ["日本語/表能ソ十.txt", "請求書 (3月).pdf", "テスト.txt", "plain.txt"]],
  ["simplified Chinese", "gb18030", ["中文资料/图.txt", "报告—最终版（2024）.docx", "数据.xlsx", "plain.txt"]],
  ["one Chinese", "gb18030", ["数.txt"]],
  ["Korean", "euc-kr", ["한국어/보고서.txt", "데이터 목록.csv"]],
  ["traditional Chinese", "big5", ["會議記錄/一月.xlsx", "專案計畫書（最終）.docx", "台北 101.jpg", "plain.txt"]],
  ["two traditional Chinese", "big5", ["中文.txt"]],
  ["Russian", "ibm866", ["Новая папка/Отчёт за год.docx", "снимок 1.png", "plain.txt"]],
  ["one Russian", "ibm866", ["фото.jpg"]],
])("%s names are read as the systems of those languages write them", async (_, code, names) => {
  const written = names.map((name) => ({ name: encoded(name, code) }));
  expect((await read(written)).map((entry) => (entry as unknown[])[0])).toEqual(names);
});

test("names of other systems, and those that fit no language, stay what MS-DOS wrote, each its own", async () => {
  const written = [
    ["Größe für Änderung.txt", "Gr\x94\xe1e f\x81r \x8enderung.txt"],
    ["éáéóéóéá.txt", "\x82\xa0\x82\xa2\x82\xa2\x82\xa0.txt"],
    ["ÅαΘóÑΓ.txt", "\x8f\xe0\xe9\xa2\xa5\xe2.txt"],
    ["╓╨┌", "\xd6\xd0\xda"],
    // What MS-DOS wrote in Portugal.
    ["S╞o ╡lvaro.txt", "S\xc6o \xb5lvaro.txt"],
    ["╓╨█", "\xd6\xd0\xdb"],
  ] as const;
  for (const [, bytes] of written) {
    const [[name] = []] = (await read([{ name: Buffer.from(bytes, "latin1") }])) as unknown[][];
    expect(name).toBe(written.find((one) => one[1] === bytes)?.[0]);
  }
  const together = await read(written.map(([, bytes]) => ({ name: Buffer.from(bytes, "latin1") })));
  expect(together.map((entry) => (entry as unknown[])[0])).toEqual(written.map(([name]) => name));
});

test("of many entries the first thousands say what language the names are in", async () => {
  const many = Array.from({ length: 2_100 }, (_, n) => ({ name: `${n}.txt` }));
  const last = { name: encoded("資料.txt", "shift_jis") };
  expect((await read([last, ...many])).map((entry) => (entry as unknown[])[0])).toEqual([
    "資料.txt",
    ...many.map(({ name }) => name),
  ]);
  expect(await read([...many, last])).toHaveLength(2_101);
});

type Code = "shift_jis" | "gb18030" | "euc-kr" | "big5" | "ibm866";

/** A text in an older encoding, by looking for the bytes that read as each of its characters. */
function encoded(text: string, code: Code): Buffer {
  const decoder = new TextDecoder(code, { fatal: true });
  const known = new Map<string, number[]>();
  if (code === "ibm866")
    for (let byte = 0x80; byte < 0xff; byte++) known.set(decoder.decode(Uint8Array.of(byte)), [byte]);
  for (let lead = 0x81; lead < 0xff; lead++)
    for (let trail = 0x40; trail < 0xff; trail++) {
      try {
        const read = decoder.decode(Uint8Array.of(lead, trail));
        if (!known.has(read)) known.set(read, [lead, trail]);
      } catch {}
    }
  return Buffer.from([...text].flatMap((one) => (one < "\x80" ? [one.charCodeAt(0)] : (known.get(one) ?? []))));
}

test("an entry that is packed in another way is refused by its name, and not called damaged", async () => {
  await expect(read([{ name: "a", method: 14 }])).rejects.toMatchObject({
    code: "rejected",
    message: "a is packed in a way that cannot be unpacked here (method 14).",
  });
});

test("an entry that is encrypted is refused by its name, as a file and as a link", async () => {
  for (const mode of [0o100644, 0o120777])
    await expect(read([{ name: "a" }, { name: "locked", mode, flags: 1 }])).rejects.toMatchObject({
      code: "rejected",
      message: "locked is encrypted.",
    });
});
