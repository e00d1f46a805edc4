import { expect, test } from "bun:test";
import { handOnBranches, madeIn, newestResults } from "./result-files.ts";
import { paperFile, paperFlow } from "./testing/paper-flow.ts";

const artifact = (name: string, text = name) => ({
  name,
  parts: [{ type: "file" as const, ...paperFile(`${name}.txt`, text) }],
});

test("what an agent made is each of its artifacts, and each file that is in none of them by that name", () => {
  const files = ["a.txt", "b.txt", "c.txt"].map((name) => paperFile(name, name[0]));
  const copy = paperFile("copy.txt", "a");
  const made = madeIn({ files: [...files, copy], artifacts: [artifact("a"), artifact("b")] });
  expect(made.map(({ name }) => name)).toEqual(["a", "b", "c.txt", "copy.txt"]);
});

test("the same thing of two branches is handed on once, another one of that name under its branch's", () => {
  const handed: string[] = [];
  const { flow } = paperFlow({
    handOn: (files, artifacts = []) => void handed.push(...[...files, ...artifacts].map(({ name }) => name)),
  });
  const one = { files: [paperFile("a.txt"), paperFile("b.txt")], artifacts: [artifact("x")] };
  const other = { files: [paperFile("a.txt"), paperFile("b.txt", "changed")], artifacts: [artifact("x", "changed")] };
  handOnBranches(flow, [
    { name: "1", ...one },
    { name: "2", ...other },
  ]);
  expect(handed).toEqual(["x", "a.txt", "b.txt", "2/x", "2/b.txt"]);
});

test("of what several attempts made the newest of each name counts", () => {
  const [old, other, fresh] = [paperFile("a.txt", "old"), paperFile("b.txt"), paperFile("a.txt", "fresh")];
  const attempts = [{ files: [old, other], artifacts: [artifact("x", "old")] }, { files: [fresh] }];
  expect(newestResults(attempts)).toEqual({ files: [fresh, other], artifacts: [artifact("x", "old")] });
  const again = { files: [], artifacts: [artifact("x", "fresh")] };
  expect(newestResults([...attempts, again]).artifacts).toEqual([artifact("x", "fresh")]);
});
