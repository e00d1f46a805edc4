import { expect, test } from "bun:test";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256Of } from "../../../core/text/sha256.ts";
import { recordBaseline } from "../../../machine/workspace/baseline.ts";
import { workspaceForTest } from "../../../testing/machine/workspace.ts";
import { changedFiles } from "./changed-files.ts";
import { contentOf } from "./changes-patch.ts";

test("changed below a folder is what differs there from what arrived, is new, or is gone", async () => {
  await using place = await workspaceForTest();
  const { workspace } = place;
  const at = (path: string) => join(workspace.root, path);
  const arrived = ["app/same", "app/other", "app/gone", "apple/other"];
  for (const root of ["app", "apple"]) {
    await mkdir(at(root));
    const files = arrived
      .filter((path) => path.startsWith(`${root}/`))
      .map((path) => ({ path, sha256: sha256Of(path) }));
    await recordBaseline(workspace, { root, files }, (path) => new Blob([path]));
  }
  for (const path of arrived) await writeFile(at(path), path);
  expect([await changedFiles(workspace, "app"), await changedFiles(workspace, ".")]).toEqual([[], []]);
  for (const path of ["app/other", "apple/other", "app/new", "apple/new", "loose"])
    await writeFile(at(path), "changed");
  await rm(at("app/gone"));
  expect(await changedFiles(workspace, "app")).toEqual(["app/gone", "app/new", "app/other"]);
  expect(await changedFiles(workspace, ".")).toEqual([
    ...["app/gone", "app/new", "app/other", "apple/new", "apple/other", "loose"],
  ]);
  expect(await changedFiles(workspace, "elsewhere")).toBeUndefined();
});

test("a file of a megabyte is compared by its content, a larger one only told to be another", async () => {
  await using place = await workspaceForTest();
  const { workspace } = place;
  await writeFile(join(workspace.root, "a"), "x".repeat(2 ** 20));
  expect((await contentOf(workspace, "a"))?.bytes[0]).toBe("x".charCodeAt(0));
  await writeFile(join(workspace.root, "a"), "x".repeat(2 ** 20 + 1));
  expect((await contentOf(workspace, "a"))?.bytes).toEqual(new Uint8Array(2 ** 20 + 1));
  expect(await contentOf(workspace, "gone")).toBeUndefined();
});
