import { afterAll, beforeAll, expect, type Mock, spyOn, test } from "bun:test";
import { type FileHandle, open, realpath, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { workspaceForTest } from "../../shared/src/testing/machine/workspace.ts";
import { contextForTest } from "../../shared/src/testing/tool-context.ts";
import { contentOf } from "../../shared/src/tools/code/checkpoints/changes-patch.ts";
import { scanWorkspace } from "../../shared/src/tools/code/checkpoints/scan-workspace.ts";
import { readJsonFile } from "../../shared/src/tools/data/charts/chart-file.ts";
import { writeDocument } from "../../shared/src/tools/documents/write-document.ts";
import { readForEdit } from "../../shared/src/tools/files/read-for-edit.ts";

let place: Awaited<ReturnType<typeof workspaceForTest>>;
beforeAll(async () => {
  place = await workspaceForTest();
});
afterAll(() => place[Symbol.asyncDispose]());

/** What a program of the sandbox does the moment after the size of its file was looked at. */
function growing(handles: FileHandle): Mock<FileHandle["stat"]> {
  const { stat } = handles;
  return spyOn(handles, "stat").mockImplementation(async function (this: FileHandle) {
    const stats = await stat.call(this);
    if (stats.isFile()) await truncate(await realpath(`/proc/self/fd/${this.fd}`), 128 * 2 ** 20);
    return stats;
  } as FileHandle["stat"]);
}

test.if(process.platform === "linux")(
  "a file that grows once its size was looked at is too large all the same, and fills no memory",
  async () => {
    const { workspace } = place;
    await using anyFile = await open(import.meta.path);
    const handles: FileHandle = Object.getPrototypeOf(anyFile);
    const read = async (path: string, how: () => Promise<unknown>) => {
      await writeFile(join(workspace.root, path), "{}");
      using _ = growing(handles);
      return await how().catch(({ code }: { readonly code?: string }) => code);
    };
    const sheets = [{ name: "S", csv: "a.csv" }];
    const written = () =>
      writeDocument({ browser: undefined }).call({ path: "a.xlsx", sheets }, contextForTest(workspace));
    expect([
      await read("edited", async () => (await readForEdit(workspace, "edited")).bytes.length),
      await read("patched", async () => (await contentOf(workspace, "patched"))?.bytes.length),
      await read("kept", async () => (await scanWorkspace(workspace, [])).files.map(({ path }) => path)),
      await read("chart.json", () => readJsonFile(workspace, "chart.json", z.json())),
      await read("a.csv", async () => ((await written()) as { readonly text: string }).text),
    ]).toEqual(["too_large", 2 ** 20 + 1, [], "too_large", "a.csv is larger than 50 MB."]);
  },
);
