import { afterAll, beforeAll, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { changesPatch } from "./changes-patch.ts";
import { type CodePlace, openCodePlace } from "./code.fixture.ts";

let place: CodePlace;
beforeAll(async () => {
  place = await openCodePlace();
});
afterAll(() => place.close());

const sent = (files: Record<string, string>) =>
  Object.entries(files).map(([path, content]) => ({ path, content: new Blob([content]) }));

test.if(Bun.which("git") !== null)("git applies the patch to what was received and gets what is there", async () => {
  const before = { "a b.txt": "one\n-- two\tx\nthree", "gone.txt": "gone\n", "same.txt": "same\n" };
  const now = { "a b.txt": "one\n2\nthree\n", "same.txt": "same\n", "sub/new.txt": "new\n" };
  const workspace = await place.project(now);
  const patch = await changesPatch(workspace, sent(before), ["sub/new.txt"]);
  expect(patch).not.toContain("same.txt");
  const other = await place.project(before);
  const git = Bun.spawnSync(["git", "apply", "-"], { cwd: other.root, stdin: Buffer.from(patch ?? "") });
  expect({ code: git.exitCode, error: git.stderr.toString() }).toEqual({ code: 0, error: "" });
  for (const [path, content] of Object.entries(now))
    expect(await Bun.file(join(other.root, path)).text()).toBe(content);
  expect(await Bun.file(join(other.root, "gone.txt")).exists()).toBe(false);
});

test("nothing changed is an empty patch, binary files are left out, a packed repository has none", async () => {
  const workspace = await place.project({ "a.txt": "a\n", "b.bin": new Uint8Array([1, 0, 2]) });
  expect(await changesPatch(workspace, sent({ "a.txt": "a\n", "b.bin": "x" }), [])).toBe("");
  await rm(join(workspace.root, "b.bin"));
  expect(await changesPatch(workspace, sent({ "repo.tar.gz": "" }), ["repo/a.txt"])).toBeUndefined();
});
