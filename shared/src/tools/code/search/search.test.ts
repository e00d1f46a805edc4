import { afterAll, beforeAll, expect, test } from "bun:test";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { type CodePlace, callIn, openCodePlace } from "../../../testing/code/code-place.ts";
import { globTool } from "./glob.ts";
import { searchTool } from "./search.ts";

let place: CodePlace;
let call: ReturnType<typeof callIn>;
let root: string;

beforeAll(async () => {
  place = await openCodePlace();
  const workspace = await place.project({
    ".gitignore": "ignored/\n*.log\n",
    "src/one.py": "import os\ndef total(items):\n    return sum(items)\n",
    "src/two words.py": "from one import total\nprint(total([1]))\n",
    "src/view.ts": "export const total = 1;\n",
    "ignored/three.py": "total(3)\n",
    "trace.log": "total(4)\n",
    "many.txt": "needle\n".repeat(90),
  });
  root = workspace.root;
  call = callIn(workspace);
});
afterAll(() => place.close());

const search = (input: Record<string, unknown>) => call(searchTool(place), input);
const glob = (input: Record<string, unknown>) => call(globTool(place), input);

test("search shows matching lines with their numbers, file by file, without what .gitignore names", async () => {
  const { text, isError } = await search({ pattern: "total\\(" });
  expect(isError).toBe(false);
  expect(text).toBe("src/one.py\n2:def total(items):\n\nsrc/two words.py\n2:print(total([1]))");
});

test("search respects a glob, and the glob does not bring ignored files back", async () => {
  const { text } = await search({ pattern: "total", glob: "*.py" });
  expect(text).toContain("src/one.py");
  expect(text).toContain("src/two words.py");
  expect(text).not.toContain("view.ts");
  expect(text).not.toContain("ignored");
});

test("search takes a pattern literally on request", async () => {
  expect((await search({ pattern: "total([1])", literal: true })).text).toContain("2:print(total([1]))");
});

test("search says what is wrong with a regular expression", async () => {
  const { text, isError } = await search({ pattern: "total(" });
  expect(isError).toBe(true);
  expect(text).toContain("unclosed group");
});

test("search shows no more lines than asked for and says so", async () => {
  const { text } = await search({ pattern: "needle", max_results: 5 });
  expect(text.match(/^\d+:needle$/gm)).toHaveLength(5);
  expect(text).toContain("85 more lines");
});

test("no matches is a valid result, a path outside is refused", async () => {
  expect(await search({ pattern: "nowhere-to-be-found" })).toEqual({ text: "No matches.", isError: false });
  await symlink("/etc", join(root, "etc"));
  for (const path of ["../..", "/etc", "etc"]) {
    const { text, isError } = await search({ pattern: "root", path });
    expect(isError).toBe(true);
    expect(text).toContain("outside the workspace");
  }
});

test("a pattern that looks like an option is a pattern", async () => {
  expect(await search({ pattern: "--files" })).toEqual({ text: "No matches.", isError: false });
});

test("glob finds by name in any folder and by path, without what .gitignore names", async () => {
  expect((await glob({ pattern: "*.py" })).text.split("\n").sort()).toEqual(["src/one.py", "src/two words.py"]);
  expect((await glob({ pattern: "src/*.{ts,txt}" })).text).toBe("src/view.ts");
  expect((await glob({ pattern: "*.rs" })).text).toBe("No file matches *.rs.");
});

test("glob puts the last changed file first", async () => {
  await Bun.write(join(root, "src/newest.py"), "");
  expect((await glob({ pattern: "*.py" })).text.split("\n")[0]).toBe("src/newest.py");
});

test("glob leaves out the sandbox's placeholders for guarded names, but not real files of such a name", async () => {
  const shell = await place.sandbox.spawn({ argv: ["sleep", "60"], workspace: root });
  try {
    const names = async () => (await glob({ pattern: "{.bashrc,.profile,.mcp.json}" })).text;
    expect(await names()).toStartWith("No file matches");
  } finally {
    shell.kill();
    await shell.exited;
  }
  const other = await place.project({ ".mcp.json": "{}\n" });
  expect((await callIn(other)(globTool(place), { pattern: ".*" })).text).toBe(".mcp.json");
});

test("names that look like options are names, and a name with line breaks is not split", async () => {
  const other = await place.project({ "a\nb.py": "needle\n", "-rf.py": "needle\n", "ok.py": "needle\n" });
  const { text } = await callIn(other)(searchTool(place), { pattern: "needle", glob: "*.py" });
  expect(text).toBe("-rf.py\n1:needle\n\nok.py\n1:needle");
  expect((await callIn(other)(globTool(place), { pattern: "*.py" })).text.split("\n").sort()).toEqual([
    "-rf.py",
    "ok.py",
  ]);
});

test("an endless list of files is cut short, and the result says so", async () => {
  const other = await place.project({});
  const deep = Array.from({ length: 15 }, () => "d".repeat(240)).join("/");
  Bun.spawnSync(["bash", "-c", `mkdir -p ${deep} && cd ${deep} && seq 1300 | xargs touch`], { cwd: other.root });
  const { text } = await callIn(other)(globTool(place), { pattern: "**/*" });
  expect(text).toContain("[there were too many files to list them all]");
  expect(text.split("\n").length).toBeLessThan(210);
});
