import { afterEach, expect, mock, spyOn, test } from "bun:test";
import { workspaceForTest } from "../../../testing/machine/workspace.ts";
import { createCheckpointStore } from "./checkpoint-store.ts";
import * as scanning from "./scan-workspace.ts";

afterEach(() => mock.restore());

const file = (path: string) => ({ path, sha256: "a".repeat(64), size: 1, modifiedAt: 1, executable: false });
const occasion = (key: string) => ({ key, tool: "bash", about: "" });

test("states that are saved at the same time are one after the other, and a look at the present waits for them", async () => {
  await using place = await workspaceForTest();
  const { workspace } = place;
  const store = createCheckpointStore();
  const first = Promise.withResolvers<void>();
  const began: string[][] = [];
  const answers = [["a"], ["a", "b"], ["a", "b", "c"]];
  spyOn(scanning, "scanWorkspace").mockImplementation(async (_, last) => {
    began.push(last.map(({ path }) => path));
    const paths = answers.shift() ?? [];
    if (began.length === 1) await first.promise;
    return { files: paths.map(file), complete: true };
  });
  const taking = [store.take(workspace, occasion("1")), store.take(workspace, occasion("2"))];
  const now = store.now(workspace);
  await Bun.sleep(5);
  first.resolve();
  await Promise.all(taking);
  expect((await now).map(({ path }) => path)).toEqual(["a", "b", "c"]);
  // Each knew what the one before it had found.
  expect(began).toEqual([[], ["a"], ["a", "b"]]);
  const saved = await Array.fromAsync(store.all(workspace), ({ id, key, files }) => [id, key, files.length]);
  expect(saved).toEqual([
    [1, "1", 1],
    [2, "2", 2],
  ]);
});

test("a state of which not everything was seen says so, also when it is read again", async () => {
  await using place = await workspaceForTest();
  const { workspace } = place;
  const store = createCheckpointStore();
  const seeing = spyOn(scanning, "scanWorkspace");
  seeing.mockResolvedValueOnce({ files: [file("a")], complete: false });
  await store.take(workspace, occasion("1"));
  seeing.mockResolvedValueOnce({ files: [file("b")], complete: true });
  await store.take(workspace, occasion("2"));
  const complete = [1, 2].map(async (id) => (await store.find(workspace, id))?.complete);
  expect(await Promise.all(complete)).toEqual([false, true]);
});
