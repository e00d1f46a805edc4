import { expect, test } from "bun:test";
import { workspaceForTest } from "../../../testing/machine/workspace.ts";
import { clonedFolders, cloneRecordOf, recordClone, recordPush } from "./clone-record.ts";
import { automationIn, pushText } from "./push-text.ts";

const [one, two, three] = ["1".repeat(40), "2".repeat(40), "3".repeat(40)] as const;
const proposed = { url: "https://git.example/a/b", branch: "fix", isDefault: false, commit: one, request: undefined };
const file = (path: string) => ({ path, lines: { added: 1, removed: 0 } });
const change = (count: number, commits = 1) => ({
  base: two,
  commits,
  newest: [{ commit: one, author: "Ann <a@b>", subject: "fix\nit" }],
  files: Array.from({ length: count }, (_, at) => file(`f${at}`)),
});

test("of a push thirty files are named, the commits that are not, and on one line what others wrote", () => {
  const lines = pushText(proposed, change(31, 3)).split("\n");
  expect(lines[0]).toBe(
    `Push 3 commits up to ${one} to branch “fix” of https://git.example/a/b, on top of 222222222222.`,
  );
  expect(lines.slice(1, 5)).toEqual([
    "- 111111111111 Ann <a@b>: fix it",
    "- and 2 earlier commits",
    "31 files differ:",
    "- f0 (+1 −0)",
  ]);
  expect(lines.slice(-2)).toEqual(["- f29 (+1 −0)", "- and 1 more"]);
  expect(pushText(proposed, change(30)).split("\n").at(-1)).toBe("- f29 (+1 −0)");
  expect(pushText(proposed, change(0))).toEndWith("\nNo file differs.");
  expect(pushText({ ...proposed, isDefault: true }, "What it holds cannot be read: x")).toBe(
    `Push commit ${one} to the default branch “fix” of https://git.example/a/b. What it holds cannot be read: x`,
  );
});

test.each([
  ".github/workflows/ci.yml",
  ".GitHub/actions/x",
  ".gitlab-ci.yml",
  ".gitlab/ci/x.yml",
  ".gitea/workflows/x",
  ".forgejo/workflows/x",
  ".woodpecker.yml",
  ".drone.yml",
  ".circleci/config.yml",
  ".travis.yml",
  ".buildkite/pipeline.yml",
  "azure-pipelines.yml",
  "Jenkinsfile",
  "bitbucket-pipelines.yml",
])("%s is read by a server to decide what it runs, and is named", (path) => {
  const files = [file("src/a"), file(path), file(`docs/${path}`)];
  expect(automationIn(files)).toEqual([path]);
  expect(pushText(proposed, { ...change(0), files })).toEndWith(`The server may run what these say: ${path}`);
});

test("what was cloned and pushed is known by its folder, each push once and in order", async () => {
  await using place = await workspaceForTest();
  const { workspace } = place;
  const clone = { url: "https://git.example/a/b", commit: one, defaultBranch: "main" };
  const pushes = async () =>
    (await cloneRecordOf(workspace, "app"))?.pushed.map(({ branch, commit }) => `${branch} ${commit[0]}`);
  await recordPush(workspace, "app", { branch: "fix", base: one, commit: two });
  expect([await clonedFolders(workspace), await cloneRecordOf(workspace, "app")]).toEqual([[], undefined]);
  await recordClone(workspace, "app", clone);
  await recordClone(workspace, "other", clone);
  expect(await clonedFolders(workspace)).toEqual(["app", "other"]);
  expect(await cloneRecordOf(workspace, "toString")).toBeUndefined();
  for (const [branch, commit] of [
    ["fix", two],
    ["fix", three],
    ["next", two],
    ["fix", two],
  ] as const)
    await recordPush(workspace, "app", { branch, base: one, commit });
  expect(await pushes()).toEqual(["fix 3", "next 2", "fix 2"]);
  expect((await cloneRecordOf(workspace, "other"))?.pushed).toEqual([]);
  await recordClone(workspace, "app", clone);
  expect(await pushes()).toEqual([]);
});
