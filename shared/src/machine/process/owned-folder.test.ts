import { expect, test } from "bun:test";
import { chown, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startOf } from "../kernel/process-table.ts";
import { makeOwnedFolder } from "./owned-folder.ts";

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
