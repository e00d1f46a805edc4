import { expect, test } from "bun:test";
import { chown, link, mkdir, readdir, rename, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { holdFolder } from "./held-folder.ts";
import { saveFile } from "./save-file.ts";
import { kindOf, openFile } from "./workspace-file.ts";

const isRoot = process.getuid?.() === 0;

test("a FIFO is refused at once and not waited for", async () => {
  await using place = await workspaceForTest();
  Bun.spawnSync(["mkfifo", join(place.workspace.root, "pipe")]);
  await expect(openFile(place.workspace, "pipe")).rejects.toMatchObject({ code: "unsupported" });
});

test("a socket is not a file", async () => {
  await using place = await workspaceForTest();
  const unix = join(place.workspace.root, "s");
  const listening = Bun.listen({ unix, socket: { data: () => undefined } });
  await expect(openFile(place.workspace, "s")).rejects.toMatchObject({ code: "unsupported" });
  listening.stop(true);
});

test("a folder is not a file", async () => {
  await using place = await workspaceForTest();
  await mkdir(join(place.workspace.root, "d"));
  await expect(openFile(place.workspace, "d")).rejects.toMatchObject({ code: "unsupported" });
});

test("a hard link to another user's file is refused, one between the workspace's own files is not", async () => {
  await using place = await workspaceForTest();
  const { root } = place.workspace;
  await writeFile(join(place.home, "secret"), "s");
  await link(join(place.home, "secret"), join(root, "linked"));
  await writeFile(join(root, "own"), "o");
  await link(join(root, "own"), join(root, "own-too"));
  if (isRoot) {
    for (const path of ["", "own"]) await chown(join(root, path), 65534, 65534);
    await expect(openFile(place.workspace, "linked")).rejects.toMatchObject({ code: "forbidden" });
  }
  await using own = await openFile(place.workspace, "own-too");
  expect(await own.handle.readFile("utf8")).toBe("o");
});

test("a folder swapped for a symlink between the check and the opening leads nowhere", async () => {
  await using place = await workspaceForTest();
  const { root } = place.workspace;
  await mkdir(join(root, "d"));
  await writeFile(join(root, "d/passwd"), "inside");
  const swapping = {
    ...place.workspace,
    async resolve(path: string) {
      const resolved = await place.workspace.resolve(path);
      await rm(join(root, "d"), { recursive: true });
      await symlink("/etc", join(root, "d"));
      return resolved;
    },
  };
  await expect(openFile(swapping, "d/passwd")).rejects.toMatchObject({ code: "forbidden" });
});

test("a file swapped for a symlink between the check and the opening is not followed", async () => {
  await using place = await workspaceForTest();
  const { root } = place.workspace;
  await writeFile(join(root, "f"), "inside");
  const swapping = {
    ...place.workspace,
    async resolve(path: string) {
      const resolved = await place.workspace.resolve(path);
      await rm(join(root, "f"));
      await symlink("/etc/passwd", join(root, "f"));
      return resolved;
    },
  };
  await expect(openFile(swapping, "f")).rejects.toMatchObject({ code: "forbidden" });
});

test.if(process.platform === "linux")("an open folder stays the same folder when its path is replaced", async () => {
  await using place = await workspaceForTest();
  const { root } = place.workspace;
  await mkdir(join(root, "d"));
  await using held = await holdFolder(root, ["d"]);
  await rename(join(root, "d"), join(root, "moved"));
  await symlink("/etc", join(root, "d"));
  await writeFile(held.at("new"), "x");
  expect(await Bun.file(join(root, "moved/new")).text()).toBe("x");
});

test("saving writes the whole file, creates its folders, and replaces or refuses an existing file", async () => {
  await using place = await workspaceForTest();
  const { workspace } = place;
  expect(await saveFile(workspace, "a/b/c.txt", new Blob(["one"]).stream())).toBe("a/b/c.txt");
  await saveFile(workspace, "a/b/c.txt", new TextEncoder().encode("two"));
  expect(await Bun.file(join(workspace.root, "a/b/c.txt")).text()).toBe("two");
  const bytes = new Uint8Array(1);
  await expect(saveFile(workspace, "a/b/c.txt", bytes, { exclusive: true })).rejects.toMatchObject({
    code: "conflict",
  });
  await expect(saveFile(workspace, "a/b", bytes)).rejects.toMatchObject({ code: "conflict" });
  await expect(saveFile(workspace, "", bytes)).rejects.toMatchObject({ code: "conflict" });
  await expect(saveFile(workspace, ".git/hooks/x", bytes)).rejects.toMatchObject({ code: "forbidden" });
});

test("saving leaves nothing behind when the content breaks off", async () => {
  await using place = await workspaceForTest();
  const broken = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(new Uint8Array(10));
      controller.error(new Error("cut"));
    },
  });
  await expect(saveFile(place.workspace, "f", broken)).rejects.toThrow("cut");
  const left = new Bun.Glob("**/*").scanSync({ cwd: place.home, dot: true });
  expect([...left]).toEqual([]);
});

test("a folder swapped for a symlink between the check and the writing is not written through", async () => {
  await using place = await workspaceForTest();
  const { root } = place.workspace;
  const outside = join(place.home, "outside");
  await mkdir(outside);
  await mkdir(join(root, "d"));
  const swapping = {
    ...place.workspace,
    async resolve(path: string) {
      const resolved = await place.workspace.resolve(path);
      await rm(join(root, "d"), { recursive: true });
      await symlink(outside, join(root, "d"));
      return resolved;
    },
  };
  await expect(saveFile(swapping, "d/new.txt", new Uint8Array(1))).rejects.toMatchObject({ code: "forbidden" });
  expect(await readdir(outside)).toEqual([]);
});

test("a path is a file, a folder, something special or missing, also below a file", async () => {
  await using place = await workspaceForTest();
  const { root } = place.workspace;
  await mkdir(join(root, "d"));
  await writeFile(join(root, "f"), "");
  Bun.spawnSync(["mkfifo", join(root, "pipe")]);
  const kinds = await Promise.all(["f", "d", "pipe", "none", "f/below"].map((path) => kindOf(place.workspace, path)));
  expect(kinds).toEqual(["file", "folder", "special", "missing", "missing"]);
});

test("what cannot be opened is refused with the reason, and what was opened in vain is closed", async () => {
  await using place = await workspaceForTest();
  await mkdir(join(place.workspace.root, "d"));
  await writeFile(join(place.workspace.root, "f"), "");
  const codeOf = (path: string) =>
    openFile(place.workspace, path).then(
      () => "none",
      ({ code }) => code,
    );
  expect(await codeOf("none")).toBe("not_found");
  const open = async () => (process.platform === "linux" ? (await readdir("/proc/self/fd")).length : 0);
  const before = await open();
  for (let n = 0; n < 20; n++) await codeOf("d");
  expect(await open()).toBeLessThan(before + 10);
  // Nor is a folder on the way kept open, there or not.
  for (let n = 0; n < 20; n++) await codeOf(n % 2 === 0 ? "d/none" : "none/none");
  expect(await open()).toBeLessThan(before + 10);
});

test("a file with one name that another user owns may be read", async () => {
  await using place = await workspaceForTest();
  await writeFile(join(place.workspace.root, "theirs"), "t");
  if (isRoot) await chown(join(place.workspace.root, "theirs"), 65534, 65534);
  await using file = await openFile(place.workspace, "theirs");
  expect(await file.handle.readFile("utf8")).toBe("t");
});

test("content is read whole up to the bound, however the file has grown since it was opened", async () => {
  await using place = await workspaceForTest();
  const path = join(place.workspace.root, "log");
  const content = Buffer.alloc(20_000, "line\n");
  await writeFile(path, content);
  await using file = await openFile(place.workspace, "log");
  for (const [most, read] of [
    [20_000, content],
    [50_000, content],
    [19_999, undefined],
  ] as const)
    expect(await file.read(most)).toEqual(read as Buffer<ArrayBuffer>);
  await truncate(path, 30_000);
  expect([await file.read(29_999), (await file.read(30_000))?.length]).toEqual([undefined, 30_000]);
  await truncate(path, 2 ** 30);
  expect(await file.read(30_000)).toBeUndefined();
  await truncate(path, 0);
  expect(await file.read(20_000)).toEqual(Buffer.alloc(0));
});
