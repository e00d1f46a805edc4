import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { mkdir, mkdtemp, open, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { underLock } from "./file-lock.ts";
import { readJson, writeJson } from "./json-file.ts";
import { keptFile } from "./kept-file.ts";
import { keptFiles } from "./kept-files.ts";
import { replaceFile } from "./replace-file.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "own-files-"));
});
afterEach(() => rm(folder, { recursive: true }));

test("a JSON file that is not there is none, one that is damaged says so, and one that cannot be read is no damage", async () => {
  const schema = z.strictObject({ a: z.int() });
  const path = join(folder, "deep", "kept.json");
  expect(await readJson(path, schema)).toBeUndefined();
  await writeJson(path, { a: 1 });
  expect(await readJson(path, schema)).toEqual({ a: 1 });
  for (const text of ["{", '{"a":"1"}', '{"a":1,"b":2}', ""]) {
    await writeFile(path, text);
    await expect(readJson(path, schema)).rejects.toMatchObject({
      code: "internal",
      message: "The file kept.json is damaged.",
    });
  }
  await expect(readJson(folder, schema)).rejects.toMatchObject({ code: "EISDIR" });
});

test("a file is replaced whole, for its owner alone, and a failure leaves nothing behind", async () => {
  const path = join(folder, "deep", "kept");
  await replaceFile(path, "first");
  await replaceFile(path, Buffer.from("second"));
  expect(await Bun.file(path).text()).toBe("second");
  const modes = await Promise.all([join(folder, "deep"), path].map(async (each) => (await stat(each)).mode & 0o777));
  expect(modes).toEqual([0o700, 0o600]);
  await mkdir(join(folder, "taken", "in"), { recursive: true });
  await expect(replaceFile(join(folder, "taken"), "x")).rejects.toThrow();
  expect((await readdir(folder)).sort()).toEqual(["deep", "taken"]);
});

test("what was killed while it replaced a file, or took its lock, is removed with a later change, a day on", async () => {
  const path = join(folder, "kept.json");
  const id = () => crypto.randomUUID();
  const left = [`kept.json.${id()}`, `kept.json.lock.${id()}`];
  const others = [`other.json.${id()}`, "kept.json.before", `kept_json.${id()}`];
  const young = [`kept.json.${id()}`];
  await mkdir(join(folder, left[1] ?? ""));
  for (const name of [left[0] ?? "", ...others, ...young]) await writeFile(join(folder, name), "half");
  const before = Date.now() / 1000 - 25 * 60 * 60;
  for (const name of [...left, ...others]) await utimes(join(folder, name), before, before);
  await replaceFile(path, "whole");
  expect((await readdir(folder)).sort()).toEqual(["kept.json", ...others, ...young].sort());
});

test("a file's content is on the disk before it has its name, and its name before the change counts as made", async () => {
  const own = await open(folder, "r");
  const handles = Object.getPrototypeOf(own);
  await own.close();
  const synced: boolean[] = [];
  const { sync } = handles;
  using _ = spyOn(handles, "sync").mockImplementation(async function (this: unknown) {
    synced.push((await readdir(folder)).includes("kept"));
    await sync.call(this);
  });
  await replaceFile(join(folder, "kept"), "first");
  expect(synced).toEqual([false, true]);
});

test("a text has another version whenever it is another file, also of the same time or the same length", async () => {
  const path = join(folder, "kept");
  const text = keptFile(path);
  const versions = [await text.version()];
  const put = async (content: string, at: number) => {
    await writeFile(path, content);
    await utimes(path, at, at);
    versions.push(await text.version());
  };
  await put("one", 5);
  await put("long", 5);
  await put("size", 6);
  await text.change(() => "size");
  await utimes(path, 6, 6);
  versions.push(await text.version());
  expect(versions[0]).toBe("");
  expect(new Set(versions).size).toBe(5);
  expect(await text.version()).toBe(versions[4] ?? "");
});

test("work that is to be alone waits for work of its name, and for no other, nor for a change", async () => {
  const text = keptFile(join(folder, "kept"));
  const [first, change] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const done: string[] = [];
  const one = text.alone("a", () => first.promise.then(() => void done.push("one")));
  const two = text.alone("a", async () => void done.push("two"));
  const changing = text.change(() => {
    done.push("change");
    return "x";
  });
  await text.alone("b", async () => void done.push("other"));
  await changing;
  change.resolve();
  expect(done.toSorted()).toEqual(["change", "other"]);
  first.resolve();
  await Promise.all([one, two]);
  expect(done.slice(2)).toEqual(["one", "two"]);
});

test("texts are named in order, below their prefix, and only those that were there are removed", async () => {
  const texts = keptFiles(folder, (file) => file);
  expect(await texts.names("")).toEqual([]);
  for (const name of ["b/two", "a/one", "b/one", "b-more/x"]) await texts.text(name).change(() => name);
  await writeFile(join(folder, "b", "stray"), "");
  expect(await texts.names("")).toEqual(["a/one", "b-more/x", "b/one", "b/two"]);
  expect(await texts.names("b/")).toEqual(["b/one", "b/two"]);
  expect([await texts.remove("b/two"), await texts.remove("b/two")]).toEqual([true, false]);
  expect(await texts.text("b/one").read()).toBe("b/one");
  await texts.remove("a/one");
  expect((await readdir(folder)).sort()).toEqual(["b", "b-more"]);
});

test("a text has each byte as one character, and what a killed change left of it goes with it", async () => {
  const texts = keptFiles(folder, (file) => file);
  await texts.text("a/one").change(() => "\u00e9\0\u00ff");
  expect([...(await readFile(join(folder, "a", "one.text")))]).toEqual([0xe9, 0, 0xff]);
  expect(await texts.text("a/one").read()).toBe("\u00e9\0\u00ff");
  for (const left of ["one.text.id", "one.texts"]) await writeFile(join(folder, "a", left), "half");
  expect(await texts.remove("a/one")).toBe(true);
  expect(await readdir(join(folder, "a"))).toEqual(["one.texts"]);
});

test("a lock is not taken from a change that takes its time", async () => {
  const path = join(folder, "kept");
  const [begun, going] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const done: string[] = [];
  const slow = underLock(path, async () => {
    begun.resolve();
    await going.promise;
    done.push("slow");
  });
  await begun.promise;
  const next = underLock(path, async () => void done.push("next"));
  await Bun.sleep(200);
  going.resolve();
  await Promise.all([slow, next]);
  expect(done).toEqual(["slow", "next"]);
});

test("a text is changed when no other process changes it, and work that is alone does not wait for that", async () => {
  const path = join(folder, "kept");
  const text = keptFile(path);
  const [held, letGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const done: string[] = [];
  // Another process would hold the same lock.
  const other = underLock(path, async () => {
    held.resolve();
    await letGo.promise;
    await writeFile(path, "theirs");
    done.push("other");
  });
  await held.promise;
  const changing = text.change((now) => {
    done.push(`change ${now}`);
    return "ours";
  });
  await text.alone("a", async () => void done.push("alone"));
  await Bun.sleep(20);
  letGo.resolve();
  await Promise.all([other, changing]);
  expect(done).toEqual(["alone", "other", "change theirs"]);
  expect((await readdir(folder)).sort()).toEqual(["kept"]);
});

test("a lock that cannot be taken leaves nothing behind, and the change is not made", async () => {
  const path = join(folder, "kept");
  await writeFile(`${path}.lock`, "in the way");
  const done: string[] = [];
  await expect(underLock(path, async () => void done.push("changed"))).rejects.toMatchObject({ code: "ENOTDIR" });
  expect([done, await readdir(folder)]).toEqual([[], ["kept.lock"]]);
});
