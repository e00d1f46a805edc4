import { expect, spyOn, test } from "bun:test";
import { existsSync } from "node:fs";
import * as files from "node:fs/promises";
import { chown, mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { startOf } from "../kernel/process-table.ts";
import { makeOwnedFolder, makeOwnedFolderSync } from "./owned-folder.ts";

test("the folder of an ended process is removed by the next one with its purpose, and no other is", async () => {
  const parent = await mkdtemp(join(tmpdir(), "manyhands-owned-"));
  const ended = Bun.spawn(["true"]);
  await ended.exited;
  const kept = [
    `other-${ended.pid}-5-0123abcd`,
    `kept-${ended.pid}-5`,
    `kept-${process.pid}-${startOf(process.pid)}-0123abcd`,
  ];
  const gone = [`kept-${ended.pid}-5-0123abcd`, `kept-${process.pid}-${startOf(process.pid) + 1}-0123abcd`];
  const strangers = process.getuid?.() === 0 ? [`kept-${ended.pid}-6-0123abcd`] : [];
  for (const name of [...kept, ...gone, ...strangers]) await mkdir(join(parent, name, "in", "it"), { recursive: true });
  for (const name of strangers) await chown(join(parent, name), 65534, 65534);
  await writeFile(join(parent, `kept-${ended.pid}-7-0123abcd`), "a file");
  try {
    const made = await makeOwnedFolder(parent, "kept");
    const again = await makeOwnedFolder(parent, "kept");
    const left = (await readdir(parent)).map((name) => join(parent, name)).sort();
    const expected = [...kept, ...strangers, `kept-${ended.pid}-7-0123abcd`].map((name) => join(parent, name));
    expect(left).toEqual([...expected, made, again].sort());
  } finally {
    await rm(parent, { recursive: true });
  }
});

test("a folder made at once is traversed by others and listed by us alone, and what was left is removed after it", async () => {
  const parent = await mkdtemp(join(tmpdir(), "manyhands-owned-"));
  const ended = Bun.spawn(["true"]);
  await ended.exited;
  const left = join(parent, `kept-${ended.pid}-5-0123abcd`);
  const mode = async (path: string) => (await stat(path)).mode & 0o777;
  try {
    await mkdir(left);
    const made = makeOwnedFolderSync(parent, "kept");
    expect(await readdir(parent)).toContain(basename(made));
    while ((await readdir(parent)).includes(basename(left))) await Bun.sleep(1);
    expect(await readdir(parent)).toEqual([basename(made)]);
    expect([await mode(made), await mode(await makeOwnedFolder(parent, "kept"))]).toEqual([0o711, 0o711]);
  } finally {
    await rm(parent, { recursive: true });
  }
});

test("what was left is not a folder's failure: one made at once stands though nothing there can be listed", async () => {
  const parent = await mkdtemp(join(tmpdir(), "manyhands-owned-"));
  const failed: unknown[] = [];
  const note = (error: unknown) => failed.push(error);
  process.on("unhandledRejection", note);
  using listing = spyOn(files, "readdir").mockRejectedValue(new Error("cannot be listed"));
  try {
    expect(existsSync(makeOwnedFolderSync(parent, "kept"))).toBe(true);
    await Bun.sleep(1);
    expect([listing.mock.calls.length, failed]).toEqual([1, []]);
  } finally {
    process.off("unhandledRejection", note);
    await rm(parent, { recursive: true });
  }
});
