import { expect, test } from "bun:test";
import { chown, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256Of } from "../../../core/text/sha256.ts";
import { baselinesOf } from "../../../machine/workspace/baseline.ts";
import { workspaceForTest } from "../../../testing/machine/workspace.ts";
import type { ArchiveEntry } from "./archive-entry.ts";
import { type Placing, placeEntries } from "./place-entries.ts";

const file = (path: string, text: string | AsyncIterable<Uint8Array> = "text"): ArchiveEntry => ({
  ...{ path, kind: "file", executable: false },
  async *content() {
    if (typeof text === "string") yield Buffer.from(text);
    else yield* text;
  },
});
const link = (path: string, target: string): ArchiveEntry => ({ ...file(path), kind: "symlink", target });

type Options = Partial<Omit<Placing, "workspace" | "entries">> & {
  /** What is in the workspace before. */
  readonly before?: readonly string[];
};

/** A workspace after these entries were to be placed, and the result or what it failed with. */
async function placed(entries: readonly ArchiveEntry[], { before = [], ...options }: Options = {}) {
  const place = await workspaceForTest();
  const { workspace } = place;
  for (const path of before) {
    await mkdir(join(workspace.root, path, ".."), { recursive: true });
    if (path.endsWith("/")) await mkdir(join(workspace.root, path));
    else await writeFile(join(workspace.root, path), "before");
  }
  const all = async function* () {
    yield* entries;
  };
  const signal = new AbortController().signal;
  const given = { workspace, entries: all(), packedBytes: () => 1_000_000, otherwise: "other", signal, ...options };
  const result = await placeEntries(given).catch((error: unknown) => error as { readonly code: string });
  const staged = await readdir(join(workspace.metaRoot, "staging"));
  return { ...place, ...{ result, staged }, top: (await readdir(workspace.root)).toSorted() };
}

test("a single folder around everything is stripped, a single file is not one", async () => {
  await using whole = await placed([file("top/a"), file("top/b/c"), link("top/gone", "nowhere")]);
  expect(whole.result).toMatchObject({
    folder: "top",
    files: [{ path: "top/a" }, { path: "top/b/c" }],
    leftOut: ["top/gone"],
  });
  await using elsewhere = await placed([file("top/a"), link("top/gone", "nowhere")], { into: "x" });
  expect(elsewhere.result).toMatchObject({ folder: "x", files: [{ path: "x/a" }], leftOut: ["x/gone"] });
  await using alone = await placed([file("a.txt")]);
  expect(alone.result).toMatchObject({ folder: "other", files: [{ path: "other/a.txt" }] });
  expect(await readFile(join(alone.workspace.root, "other/a.txt"), "utf8")).toBe("text");
});

test("links that are left out are not there", async () => {
  await using it = await placed([file("top/a"), link("top/gone", "nowhere"), link("top/to", "gone")]);
  expect(await readdir(join(it.workspace.root, "top"))).toEqual(["a"]);
});

test("git's own files are no part of what changes are compared with", async () => {
  await using it = await placed([file("p/a"), file("p/.git/config"), file("p/sub/.GIT/x"), file("p/x.git/b")]);
  const [baseline] = await baselinesOf(it.workspace);
  expect(baseline?.files.map(({ path }) => path)).toEqual(["p/a", "p/x.git/b"]);
});

test("an empty folder is replaced; a file, or a folder with something in it, is in the way", async () => {
  await using empty = await placed([file("a")], { into: "there", before: ["there/"] });
  expect(empty.result).toMatchObject({ folder: "there" });
  for (const before of ["there", "there/x"]) {
    await using taken = await placed([file("a")], { into: "there", before: [before] });
    expect(taken.result).toMatchObject({ code: "conflict" });
    expect(await readFile(join(taken.workspace.root, before), "utf8")).toBe("before");
    expect([taken.top, taken.staged]).toEqual([["there"], []]);
  }
});

test("what was set aside of a project is gone once another takes its place", async () => {
  await using it = await workspaceForTest();
  const { workspace } = it;
  for (const name of ["p", "q"])
    await mkdir(join(workspace.metaRoot, "aside", sha256Of(name), "old"), { recursive: true });
  const entries = (async function* () {
    yield file("p/a");
  })();
  const signal = new AbortController().signal;
  await placeEntries({ workspace, entries, packedBytes: () => 1, otherwise: "other", signal });
  expect(await readdir(join(workspace.metaRoot, "aside"))).toEqual([sha256Of("q")]);
});

test.skipIf(process.getuid?.() !== 0)("the folders on the way are the tools' own", async () => {
  await using it = await workspaceForTest();
  const { workspace } = it;
  await chown(workspace.root, 65534, 65534);
  const entries = (async function* () {
    yield file("p/a");
  })();
  const signal = new AbortController().signal;
  await placeEntries({ workspace, entries, packedBytes: () => 1, into: "x/y/z", otherwise: "other", signal });
  for (const path of ["x", "x/y", "x/y/z", "x/y/z/a"])
    expect([path, (await stat(join(workspace.root, path))).uid]).toEqual([path, 65534]);
});

test("what is damaged is refused; a failure of the system, and a cancellation, stay what they are", async () => {
  const failing = (error: unknown) =>
    // biome-ignore lint/correctness/useYield: it fails before anything comes
    (async function* (): AsyncGenerator<Uint8Array> {
      throw error;
    })();
  await using damaged = await placed([file("a", failing(new Error("bad header")))]);
  expect(damaged.result).toMatchObject({ code: "rejected", message: "It is damaged or made up: bad header" });
  const full = Object.assign(new Error("no space"), { code: "ENOSPC" });
  await using filled = await placed([file("a", failing(full))]);
  expect(filled.result as unknown).toBe(full);
  const caller = new AbortController();
  const reason = new Error("stopped");
  caller.abort(reason);
  await using stopped = await placed([file("a", failing(new Error("cut off")))], { signal: caller.signal });
  expect(stopped.result as unknown).toBe(reason);
  for (const { top, staged } of [damaged, filled, stopped]) expect([top, staged]).toEqual([[], []]);
});

test("no more comes out than usual source has, in all and for each byte that went in", async () => {
  const megabyte = 1024 ** 2;
  const pieces = async function* (...lengths: number[]): AsyncGenerator<Uint8Array> {
    for (const length of lengths) yield new Uint8Array(length);
  };
  const large = { packedBytes: () => 10_000 * megabyte };
  // It would fill the memory: only its length is looked at.
  const beyond = [{ length: 500 * megabyte + 1 } as Uint8Array];
  await using over = await placed(
    [
      file(
        "a",
        (async function* () {
          yield* beyond;
        })(),
      ),
    ],
    large,
  );
  expect(over.result).toMatchObject({ code: "too_large", message: "Unpacked it is larger than 500 MB." });
  await using within = await placed([file("a", pieces(20 * megabyte))], { packedBytes: () => 1 });
  expect(within.result).toMatchObject({ folder: "other" });
  const packed = (20 * megabyte) / 200;
  await using suspicious = await placed([file("a", pieces(20 * megabyte, 1))], { packedBytes: () => packed });
  expect(suspicious.result).toMatchObject({ code: "too_large", message: expect.stringContaining("200 times") });
  await using fine = await placed([file("a", pieces(20 * megabyte, 1))], { packedBytes: () => packed + 1 });
  expect(fine.result).toMatchObject({ folder: "other" });
});
