import { expect, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { recordBaseline } from "./baseline.ts";
import { ignoredInProjects } from "./ignored-files.ts";
import { listFiles } from "./list-files.ts";

/**
 * Which of these files of a project with this `.gitignore` git ignores, and which we say it does.
 */
async function ignored(gitignore: string, paths: readonly string[], arrived: readonly string[] = []) {
  await using place = await workspaceForTest();
  const { root } = place.workspace;
  for (const path of [...paths, ...arrived].map((one) => `proj/${one}`)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), "x");
  }
  await writeFile(join(root, "proj/.gitignore"), gitignore);
  const files = [".gitignore", ...arrived].map((path) => ({ path: `proj/${path}`, sha256: "0".repeat(64) }));
  await recordBaseline(place.workspace, { root: "proj", files }, () => new Blob(["x"]));
  const isIgnored = await ignoredInProjects(place.workspace, await listFiles(place.workspace));
  const git = (args: readonly string[]) => Bun.spawnSync(["git", ...args], { cwd: join(root, "proj") });
  git(["init", "-q"]);
  if (arrived.length > 0) git(["add", "-f", ...arrived]);
  const byGit = git(["check-ignore", ...paths, ...arrived])
    .stdout.toString()
    .trim();
  return {
    ours: [...paths, ...arrived].filter((path) => isIgnored(`proj/${path}`)),
    gits: byGit === "" ? [] : byGit.split("\n").map((path) => path.replace(/^"(.*)"$/, "$1")),
  };
}

const paths = [
  ...["target/debug/a", "src/target/b", "target.txt", "build/out.o", "src/a.o", "keep.o", "docs/build/c", "a.log"],
  ...["deep/er/x.log", "foo/bar/baz", "x/foo/bar/q", "a{b}.txt", "#note", ".env", "dist/keep/me", "src/main.rs"],
];

test.each([
  ["target/\n*.o\n!keep.o\n"],
  ["/target\n/build/\n*.log"],
  ["foo/bar\n**/docs/\n"],
  ["foo/**\n# target\n\\#note\n.env\n"],
  ["a{b}.txt\ndist/*\n!dist/keep\n"],
  ["dist/\n!dist/keep/me\n  \n"],
  ["[ab].log\n?.o\r\n"],
  ["**/x.log\nsrc/**/b\n"],
])("what %j ignores in a project is what git ignores", async (gitignore) => {
  const { ours, gits } = await ignored(gitignore, paths);
  expect(gits.length).toBeGreaterThan(0);
  expect(ours).toEqual(gits);
});

test("a file that arrived with its project is not ignored, whatever names it", async () => {
  expect(await ignored("*.log\n", ["b.log"], ["a.log"])).toEqual({ ours: ["b.log"], gits: ["b.log"] });
});

test("a .gitignore outside of a project says nothing of files", async () => {
  await using place = await workspaceForTest();
  for (const name of [".gitignore", "a.log"]) await writeFile(join(place.workspace.root, name), "*.log");
  const isIgnored = await ignoredInProjects(place.workspace, await listFiles(place.workspace));
  expect(isIgnored("a.log")).toBe(false);
});

test("a project with many files of rules has no more of them tried for each path than one with one", async () => {
  await using place = await workspaceForTest();
  const { root } = place.workspace;
  await mkdir(join(root, "proj/deep/er"), { recursive: true });
  await writeFile(join(root, "proj/.gitignore"), Array.from({ length: 1_500 }, (_, n) => `outer-${n}\n`).join(""));
  await writeFile(join(root, "proj/deep/.gitignore"), Array.from({ length: 1_500 }, (_, n) => `inner-${n}\n`).join(""));
  await writeFile(join(root, "proj/deep/er/.gitignore"), "last\n");
  await recordBaseline(
    place.workspace,
    { root: "proj", files: [{ path: "proj/.gitignore", sha256: "0".repeat(64) }] },
    () => new Blob(["x"]),
  );
  const isIgnored = await ignoredInProjects(place.workspace, await listFiles(place.workspace));
  const named = ["proj/outer-1499", "proj/deep/inner-499", "proj/deep/inner-500", "proj/deep/er/last"];
  expect(named.map(isIgnored)).toEqual([true, true, false, false]);
});
