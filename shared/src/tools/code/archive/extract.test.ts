import { afterAll, expect, test } from "bun:test";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sha256Of } from "../../../core/text/sha256.ts";
import type { ArchiveEntry } from "./archive-entry.ts";
import { extract } from "./extract.ts";
import { createRoom } from "./extract-room.ts";

const home = await mkdtemp(join(tmpdir(), "manyhands-extract-"));
afterAll(() => rm(home, { recursive: true }));

type Entry = Partial<ArchiveEntry> & { readonly path: string; readonly text?: string };
const limits = { entries: 100, bytes: 1000, ratio: 1000, unremarkableBytes: 1000 };

/**
 * What becomes of these entries: paths, what is left out, and the folder; or the error's message.
 */
async function extracted(entries: readonly Entry[], options: Partial<Parameters<typeof extract>[2]> = {}) {
  const folder = await mkdtemp(join(home, "to-"));
  const all = async function* (): AsyncGenerator<ArchiveEntry> {
    for (const { text = "x", ...entry } of entries)
      yield {
        kind: "file",
        executable: false,
        content: async function* () {
          yield Buffer.from(text);
        },
        ...entry,
      };
  };
  const { signal } = new AbortController();
  try {
    const given = { packedBytes: () => 1000, limits, signal, ...options };
    const { files, leftOut, misnamed } = await extract(all(), folder, given);
    return { files, leftOut, misnamed, folder, paths: files.map(({ path }) => path) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

const nested = (depth: number) => Array.from({ length: depth }, () => "d").join("/");
/** A path of this length, in names that are short enough. */
const long = (length: number) =>
  Array.from({ length: 10 }, () => "n".repeat(99))
    .join("/")
    .padEnd(length, "e")
    .slice(-length);

test.each<[string, string, string | undefined]>([
  ["a drive's name", "c:evil", "is absolute"],
  ["a backslash", "a\\b", "has a backslash in it"],
  ["a control character", "a\u0007", "no name should have"],
  ["a byte that is no text", "a\ufffd", "no name should have"],
  ["a mark that isolates a direction", "a\u2066b", "no name should have"],
  ["a step up at its end", "a/..", "leads out of the archive"],
  ["two slashes", "a//b", "has an empty part"],
  ["no name", "", "has an empty part"],
  ["60 parts", nested(60), undefined],
  ["61 parts", nested(61), "too long or too deep"],
  ["a part of 255 bytes", `${"é".repeat(127)}e`, undefined],
  ["a part of 256 bytes", "é".repeat(128), "too long or too deep"],
  ["1000 characters", long(1000), undefined],
  ["1001 characters", long(1001), "too long or too deep"],
  ["dots that are no steps", "..a/b../...", undefined],
])("a path with %s is taken or refused", async (_, path, why) => {
  const { error, paths } = await extracted([{ path }]);
  if (why === undefined) expect({ error, paths }).toEqual({ error: undefined, paths: [path] });
  else expect(error).toContain(why);
  const beside = await extracted([{ path }, { path: "good" }]);
  expect(beside.misnamed).toEqual(why === undefined ? [] : [{ name: path, why: expect.stringContaining(why) }]);
  expect(beside.paths).toEqual(why === undefined ? [path, "good"] : ["good"]);
  expect(await readdir(beside.folder ?? "")).toEqual(why === undefined ? expect.anything() : ["good"]);
});

test("hooks of git are left out wherever they are and however they are written, and nothing else is", async () => {
  const hooks = [".git/hooks/a", "p/.git/hooks/b/c", "p/.git/modules/m/hooks/d", ".GIT/Hooks/e"];
  const others = [".git/hooks.txt", "x.git/hooks/f", "hooks/g", ".github/hooks/h", ".git/config"];
  const { paths, leftOut } = await extracted([...hooks, ...others].map((path) => ({ path })));
  expect([leftOut, paths]).toEqual([hooks, others]);
});

test("a hard link is a file of its own, with the content and permissions of the other, and counts as one", async () => {
  const link = { path: "b", kind: "hard-link" as const, target: "./a" };
  const { folder = "", files } = await extracted([{ path: "a", text: "text", executable: true }, link]);
  const written = { sha256: sha256Of("text"), size: 4 };
  expect(files).toEqual([
    { path: "a", ...written },
    { path: "b", ...written },
  ]);
  const [one, other] = await Promise.all([stat(join(folder, "a")), stat(join(folder, "b"))]);
  expect([other.mode & 0o777, one.nlink, one.ino === other.ino]).toEqual([0o755, 1, false]);
  expect(await readFile(join(folder, "b"), "utf8")).toBe("text");
  const half = [{ path: "a", text: "x".repeat(600) }, link];
  expect((await extracted(half)).error).toContain("Unpacked it is larger");
});

test("a name is taken once, whatever has it", async () => {
  const link = { path: "a", kind: "symlink" as const, target: "b" };
  for (const entries of [
    [{ path: "a" }, { path: "a" }],
    [link, { path: "a" }],
    [link, link],
    [{ path: "b" }, { path: "a" }, link],
    [{ path: "b" }, link, { path: "a", kind: "hard-link" as const, target: "b" }],
    [{ path: "b" }, { path: "a" }, { path: "a", kind: "hard-link" as const, target: "b" }],
    [{ path: "a" }, { path: "a", kind: "folder" as const }],
  ])
    expect((await extracted([{ path: "z" }, ...entries])).error).toBe("It contains the name a twice.");
});

test("an empty folder is made, and one may be named twice", async () => {
  const folder = { path: "d/e/", kind: "folder" as const };
  const { folder: at = "", paths } = await extracted([folder, folder]);
  expect(paths).toEqual([]);
  expect((await stat(join(at, "d/e"))).isDirectory()).toBe(true);
});

test("exactly as many entries and bytes as the limits allow are extracted, one more is not", async () => {
  const many = (count: number) => Array.from({ length: count }, (_, n) => ({ path: `${n}`, text: "" }));
  expect((await extracted(many(100))).paths).toHaveLength(100);
  expect((await extracted(many(101))).error).toBe("There are more than 100 entries in it.");
  const halves = (last: number) => [
    { path: "a", text: "x".repeat(500) },
    { path: "b", text: "x".repeat(last) },
  ];
  expect((await extracted(halves(500))).paths).toEqual(["a", "b"]);
  expect((await extracted(halves(501))).error).toContain("Unpacked it is larger than 1000 bytes");
});

test.each([
  [10, 100, false],
  [10, 101, true],
  [30, 300, false],
  [30, 301, true],
  [1, 100, false],
  [1, 101, true],
])("of %d packed bytes at ten times as many %d unpacked ones are refused above 100: %p", (packed, bytes, refused) => {
  const room = createRoom({
    packedBytes: () => packed,
    limits: { entries: 1, bytes: 1000, ratio: 10, unremarkableBytes: 100 },
    signal: new AbortController().signal,
  });
  const take = () => room.takeBytes(bytes);
  if (refused) expect(take).toThrow("more than 10 times its size");
  else expect(take).not.toThrow();
});

test("what is cancelled stops at the next entry and at the next bytes", () => {
  const room = createRoom({ packedBytes: () => 1, limits, signal: AbortSignal.abort("stopped") });
  for (const take of [() => room.takeEntry(), () => room.takeBytes(1)]) {
    let reason: unknown;
    try {
      take();
    } catch (error) {
      reason = error;
    }
    expect(reason).toBe("stopped");
  }
});

const link = (path: string, target: string) => ({ path, target, kind: "symlink" as const });

test.each([
  ["/etc/passwd", "d/l"],
  ["../../x", "d/l"],
  ["..", "l"],
  ["../..", "d/l"],
  ["../x/../../y", "d/l"],
])("a link to %s outside is refused, or left out if the caller says so", async (target, path) => {
  const entries = [{ path: "d/a" }, link(path, target)];
  expect((await extracted(entries)).error).toBe(`The symbolic link ${path} in it leads outside.`);
  const { leftOut, folder = "" } = await extracted(entries, { linksOutside: "leave out" });
  expect(leftOut).toEqual([path]);
  await expect(stat(join(folder, path))).rejects.toThrow("ENOENT");
});

test("a link within is made, whatever its name begins with; without a sound target it is always refused", async () => {
  const { leftOut, folder = "" } = await extracted([{ path: "..d/a", text: "text" }, link("d/l", "../..d/a")]);
  expect(leftOut).toEqual([]);
  expect(await readFile(join(folder, "d/l"), "utf8")).toBe("text");
  for (const target of ["", "a\0b"])
    expect((await extracted([{ path: "a" }, link("l", target)], { linksOutside: "leave out" })).error).toContain(
      "l in",
    );
});

test("links that lead nowhere or in a circle are left out, and those to them too", async () => {
  const links = [link("gone", "nothing"), link("one", "two"), link("two", "one"), link("fine", "a")];
  const { leftOut } = await extracted([{ path: "a" }, ...links]);
  expect(leftOut).toEqual(["gone", "one", "two"]);
});

test.each([
  ["a folder's own way up", [link("d/up", ".."), link("x", "d/up/..")]],
  ["one after the other", [link("d/e/up", ".."), link("d/up", "e/up/.."), link("x", "d/up/..")]],
])("a link that leads outside by another, though its own text does not, is refused: %s", async (_, links) => {
  const entries = [{ path: "d/a" }, { path: "d/e/a" }, ...links];
  for (const linksOutside of ["refuse", "leave out"] as const)
    expect((await extracted(entries, { linksOutside })).error).toBe("The symbolic link x in it leads outside.");
});
