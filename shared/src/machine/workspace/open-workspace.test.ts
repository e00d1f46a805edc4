import { expect, test } from "bun:test";
import { chmod, link, mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { openWorkspace } from "./open-workspace.ts";

const nobody = { uid: 65534, gid: 65534 };
const isRoot = process.getuid?.() === 0;

test("a workspace is the same for the same principal and context, and different for another principal's same context", async () => {
  await using place = await workspaceForTest();
  const { home } = place;
  const again = await openWorkspace({ home, principal: "alice", contextId: "c1" });
  const bobs = await openWorkspace({ home, principal: "bob", contextId: "c1" });
  expect(again.root).toBe(place.workspace.root);
  expect(bobs.root).not.toBe(again.root);
  const agents = await openWorkspace({ home, agent: "swe", principal: "alice", contextId: "c1" });
  const named = await openWorkspace({ home, principal: "swe/alice", contextId: "c1" });
  expect([agents.root === again.root, agents.root === named.root]).toEqual([false, true]);
  expect(agents.root.split("/").at(-2)).toMatch(/^[0-9a-f]{32}$/);
});

test("the boundary between principal and context matters", async () => {
  await using place = await workspaceForTest();
  const { home } = place;
  const one = await openWorkspace({ home, principal: "a", contextId: "bc" });
  const other = await openWorkspace({ home, principal: "ab", contextId: "c" });
  expect(one.root).not.toBe(other.root);
});

test("a contextId made of dots and slashes stays below home", async () => {
  await using place = await workspaceForTest();
  const { root } = await openWorkspace({ home: place.home, principal: "..", contextId: "../../../etc/passwd\0" });
  expect(root.startsWith(join(place.home, "workspaces"))).toBe(true);
});

test("the folders are closed to other users", async () => {
  await using place = await workspaceForTest();
  const modes = await Promise.all(
    [place.workspace.root, place.workspace.metaRoot].map(async (path) => (await stat(path)).mode & 0o777),
  );
  expect(modes).toEqual([0o700, 0o700]);
  const home = join(place.home, "new");
  await openWorkspace({ home, principal: "alice", contextId: "c1" });
  expect((await stat(home)).mode & 0o777).toBe(0o711);
});

test("spilled text gets a new numbered name each time, whatever it is called", async () => {
  await using place = await workspaceForTest();
  const { workspace } = place;
  expect(await workspace.spill("bash.txt", "one")).toBe(".manyhands/output/0001-bash.txt");
  expect(await workspace.spill("../../etc/pass wd", new Uint8Array([111, 107]))).toBe(
    ".manyhands/output/0002-etc-pass-wd",
  );
  expect(await readFile(join(workspace.root, ".manyhands/output/0002-etc-pass-wd"), "utf8")).toBe("ok");
  // The end of a long name says what it is.
  const long = await workspace.spill(`${"n".repeat(200)}.txt`, "three");
  expect(long).toBe(`.manyhands/output/0003-${"n".repeat(76)}.txt`);
  await writeFile(join(workspace.root, ".manyhands/output/10000-x"), "");
  expect(await workspace.spill("x", "four")).toBe(".manyhands/output/10001-x");
});

test("texts spilled at the same time do not overwrite each other", async () => {
  await using place = await workspaceForTest();
  const paths = await Promise.all(Array.from({ length: 8 }, (_, n) => place.workspace.spill("x", String(n))));
  expect(new Set(paths).size).toBe(8);
});

test("spilling does not follow a symlink put in its way", async () => {
  await using place = await workspaceForTest();
  const outside = join(place.home, "outside");
  await mkdir(outside);
  await symlink(outside, join(place.workspace.root, ".manyhands"));
  await expect(place.workspace.spill("x", "text")).rejects.toMatchObject({ code: "forbidden" });
});

test("the tools' user owns the root and what is adopted, and cannot see the meta folder", async () => {
  await using place = await workspaceForTest();
  await chmod(place.home, 0o711);
  const workspace = await openWorkspace({ home: place.home, principal: "p", contextId: "c", user: nobody });
  await mkdir(join(workspace.root, "made/deep"), { recursive: true });
  await writeFile(join(workspace.root, "made/deep/file"), "x");
  await writeFile(join(place.home, "precious"), "x");
  await link(join(place.home, "precious"), join(workspace.root, "made/hard"));
  await writeFile(join(place.home, "valued"), "x");
  await symlink(join(place.home, "valued"), join(workspace.root, "made/soft"));
  const listening = Bun.listen({ unix: join(workspace.root, "made/socket"), socket: { data: () => undefined } });
  Bun.spawnSync(["mkfifo", join(workspace.root, "made/pipe")]);
  await workspace.adopt("made");
  listening.stop(true);
  const spilled = await workspace.spill("x", "text");
  const owner = async (path: string) => (await stat(path)).uid;
  const expected = isRoot ? nobody.uid : process.getuid?.();
  for (const path of ["", "made", "made/deep/file", spilled])
    expect(await owner(join(workspace.root, path))).toBe(expected as number);
  for (const path of [join(place.home, "precious"), join(place.home, "valued"), join(workspace.root, "made/pipe")])
    expect(await owner(path)).toBe(process.getuid?.() as number);
  if (!isRoot) return;
  const asNobody = (command: string) =>
    Bun.spawnSync(["sh", "-c", command], { ...nobody, stdout: "ignore", stderr: "ignore" }).exitCode;
  expect(asNobody(`cd ${workspace.root} && echo hi > mine && cat made/deep/file`)).toBe(0);
  expect(asNobody(`ls ${workspace.metaRoot}`)).not.toBe(0);
  expect(asNobody(`ls ${join(place.home, "workspaces")}`)).not.toBe(0);
});

test("files that a killed process left unfinished are removed when the workspace is opened, those of today are not", async () => {
  await using place = await workspaceForTest();
  const staging = join(place.workspace.metaRoot, "staging");
  await mkdir(staging);
  for (const name of ["old", "new"]) await writeFile(join(staging, name), "half");
  await utimes(join(staging, "old"), 1_000, 1_000);
  await openWorkspace({ home: place.home, principal: "alice", contextId: "c1" });
  expect(await readdir(staging)).toEqual(["new"]);
});
