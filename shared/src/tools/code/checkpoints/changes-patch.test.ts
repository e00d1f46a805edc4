import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, rm } from "node:fs/promises";
import { join } from "node:path";
import { sha256Of } from "../../../core/text/sha256.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { recordBaseline } from "../../../machine/workspace/baseline.ts";
import { type CodePlace, openCodePlace } from "../../../testing/code/code-place.ts";
import { changesPatches } from "./changes-patch.ts";

let place: CodePlace;
beforeAll(async () => {
  place = await openCodePlace();
});
afterAll(() => place.close());

async function arrived(workspace: Workspace, files: Record<string, string>, root?: string) {
  const all = Object.entries(files).map(([path, text]) => ({ path, sha256: sha256Of(text) }));
  const content = (path: string) => new Blob([files[path] ?? ""]);
  for (const baseline of root === undefined
    ? all.map((file) => ({ root: file.path, files: [file] }))
    : [{ root, files: all }])
    await recordBaseline(workspace, baseline, content);
}

async function applied(before: Record<string, string>, patch: string | undefined) {
  const other = await place.project(before);
  const git = Bun.spawnSync(["git", "apply", "-"], { cwd: other.root, stdin: Buffer.from(patch ?? "") });
  expect({ code: git.exitCode, error: git.stderr.toString() }).toEqual({ code: 0, error: "" });
  return (path: string) => Bun.file(join(other.root, path));
}

test.if(Bun.which("git") !== null)(
  "git applies the patch to the received files and gets the current ones",
  async () => {
    const before = { "a b.txt": "one\n-- two\tx\nthree", "gone.txt": "gone\n", "same.txt": "same\n" };
    const now = { "a b.txt": "one\n2\nthree\n", "same.txt": "same\n", "sub/new.txt": "new\n" };
    const workspace = await place.project({ ...now, "venv/lib.txt": "made again\n" });
    await arrived(workspace, before);
    const [changes, ...others] = await changesPatches(workspace);
    expect(others).toEqual([]);
    expect(changes?.patch).not.toMatch(/same\.txt|venv/);
    expect(changes?.changes).toBe(true);
    const file = await applied(before, changes?.patch);
    for (const [path, content] of Object.entries(now)) expect(await file(path).text()).toBe(content);
    expect(await file("gone.txt").exists()).toBe(false);
  },
);

test.if(Bun.which("git") !== null)(
  "a project's patch has paths from its own folder, and files sent beside it have a separate patch",
  async () => {
    const workspace = await place.project({
      "proj/a.py": "b\n",
      "proj/n.py": "n\n",
      "proj/same.py": "s\n",
      "note.md": "#\n",
      "other.txt": "new\n",
    });
    await arrived(workspace, { "other.txt": "old\n" });
    await arrived(workspace, { "proj/a.py": "a\n", "proj/same.py": "s\n", "proj/gone.py": "g\n" }, "proj");
    const patches = await changesPatches(workspace);
    expect(patches.map(({ folder }) => folder)).toEqual(["proj", ""]);
    expect(patches[1]?.patch).toContain("+new");
    expect(patches[1]?.patch).not.toContain("note.md");
    const file = await applied({ "a.py": "a\n", "same.py": "s\n", "gone.py": "g\n" }, patches[0]?.patch);
    expect([await file("a.py").text(), await file("n.py").text(), await file("gone.py").exists()]).toEqual([
      "b\n",
      "n\n",
      false,
    ]);
    await rm(join(workspace.root, "proj"), { recursive: true });
    expect((await changesPatches(workspace)).map(({ folder }) => folder)).toEqual([""]);
  },
);

test.if(Bun.which("git") !== null)("texts too different to compare in time are replaced as a whole", async () => {
  const noise = (seed: number) =>
    Array.from({ length: 60_000 }, (_, n) => (n * 7919 + seed * 104_729) % 99_991).join("\n");
  const workspace = await place.project({ "a.txt": noise(1) });
  await arrived(workspace, { "a.txt": `${noise(2)}\n` });
  const started = performance.now();
  const [changes] = await changesPatches(workspace);
  expect(performance.now() - started).toBeLessThan(60_000);
  const file = await applied({ "a.txt": `${noise(2)}\n` }, changes?.patch);
  expect(await file("a.txt").text()).toBe(noise(1));
});

test.if(Bun.which("git") !== null)(
  "empty files, byte order marks, Windows line endings and the executable bit are preserved",
  async () => {
    const before = { "mark.txt": "\ufeffone\ntwo\n", "dos.txt": "a\r\nb\r\n", "old.py": "" };
    const workspace = await place.project({
      "mark.txt": "\ufeffone\n2\n",
      "dos.txt": "a\r\nc\r\n",
      "pkg/__init__.py": "",
    });
    await arrived(workspace, before);
    await Bun.write(join(workspace.root, "run.sh"), "#!/bin/sh\n");
    await chmod(join(workspace.root, "run.sh"), 0o755);
    const [changes] = await changesPatches(workspace);
    const file = await applied(before, changes?.patch);
    expect((await file("run.sh").stat()).mode & 0o100).toBe(0o100);
    expect(await file("mark.txt").bytes()).toEqual(new TextEncoder().encode("\ufeffone\n2\n"));
    expect(await file("dos.txt").text()).toBe("a\r\nc\r\n");
    expect([await file("pkg/__init__.py").exists(), await file("old.py").exists()]).toEqual([true, false]);
  },
);

test("without changes there is no patch, and binary files are left out", async () => {
  const workspace = await place.project({
    "a.txt": "a\n",
    "b.bin": new Uint8Array([1, 0, 2]),
    "c.txt": new Uint8Array([0xe9]),
  });
  await arrived(workspace, { "a.txt": "a\n", "b.bin": "x", "c.txt": "é" });
  expect(await changesPatches(workspace)).toEqual([]);
  await Bun.write(join(workspace.root, "new.txt"), "new\n");
  expect(await changesPatches(workspace)).toMatchObject([{ folder: "", changes: false }]);
});
