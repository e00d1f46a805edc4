import { afterAll, beforeAll, expect, test } from "bun:test";
import { createKeyedQueue } from "../../../core/async/keyed-queue.ts";
import type { Tool } from "../../../core/tools/tool.ts";
import { type CodePlace, callIn, openCodePlace } from "../../../testing/code/code-place.ts";
import { createStrReplaceEditor } from "../../files/str-replace-editor.ts";
import { applyPatchTool } from "../patch/apply-patch.ts";
import { findProblems } from "./find-problems.ts";
import { withDiagnostics } from "./with-diagnostics.ts";

let place: CodePlace;
beforeAll(async () => {
  place = await openCodePlace();
});
afterAll(() => place.close());

const queue = createKeyedQueue();
const checked = (tool: Tool) =>
  withDiagnostics(tool, { ...place, edited: typeof tool.edits === "function" ? tool.edits : () => [] });
const editor = () => checked(createStrReplaceEditor(queue));
const patcher = () => checked(applyPatchTool({ queue }));
const diagnosed = (text: string) => (text.includes("Diagnostics:") ? text.slice(text.indexOf("Diagnostics:")) : "");

const files: readonly (readonly [string, string, string, RegExp])[] = [
  ["a.py", "print('it was run')\n", "x = (\n", /a\.py:1:\d+: '\(' was never closed/],
  ["a.sh", "echo 1\n", "if true; then\n", /a\.sh: line \d+: syntax error/],
  ["a.ts", "let a: number = 1;\n", "let a: = 1;\n", /a\.ts:1:8: /],
  ["a.jsx", "const a = <b />;\n", "const a = <b>;\n", /a\.jsx:1:\d+: /],
  ["a.json", '{"a": 1}\n', '{"a": 1,,}\n', /a\.json:1:\d+: /],
  ["tsconfig.json", "{ // why\n}\n", "{ // why\n", /tsconfig\.json:/],
  ["a.toml", "a = 1\n", "a = \n", /a\.toml: Invalid TOML/],
  ["a.yaml", "a: [1]\n", "a: [1\nb: 2\n", /a\.yaml: YAML Parse error/],
];

test.each(files)(
  "an error in %s is reported, and a correct file is not mentioned",
  async (path, sound, faulty, told) => {
    const workspace = await place.project({ [path]: "" });
    const check = (text: string) =>
      findProblems({ path, text, workspace, ...place, signal: AbortSignal.timeout(60_000) });
    expect(await check(sound)).toEqual([]);
    expect((await check(faulty)).join("\n")).toMatch(told);
  },
);

test("the result of an edit that breaks a file says so, and that of a correct edit says nothing", async () => {
  const workspace = await place.project({ "sub/a.py": "def f():\n    return 1\n" });
  const call = callIn(workspace);
  const edit = (old_str: string, new_str: string) =>
    call(editor(), { command: "str_replace", path: "sub/a.py", old_str, new_str });
  const broken = await edit("return 1", "return (1");
  expect(broken.isError).toBe(false);
  expect(diagnosed(broken.text)).toMatch(
    /^Diagnostics: sub\/a\.py has problems since this edit:\n- a\.py:2:\d+: '\(' was never closed$/,
  );
  expect(diagnosed((await edit("def f", "# f\ndef f")).text)).toMatch(
    /^Diagnostics: sub\/a\.py was broken before this edit already: a\.py:3:/,
  );
  expect(diagnosed((await edit("(1", "1")).text)).toBe("");
});

test("each file of a patch is checked, and the result of a failed call is left unchanged", async () => {
  const workspace = await place.project({ "a.json": "[1]\n", "b.py": "x = 1\n" });
  const call = callIn(workspace);
  const block = (path: string, from: string, to: string) =>
    `${path}\n<<<<<<< SEARCH\n${from}\n=======\n${to}\n>>>>>>> REPLACE`;
  const patch = [block("a.json", "[1]", "[1"), block("b.py", "x = 1", "x = = 1")].join("\n");
  const { text } = await call(patcher(), { patch });
  expect(text).toContain("Diagnostics: a.json has problems");
  expect(text).toContain("Diagnostics: b.py has problems");
  expect((await call(patcher(), { patch })).text).not.toContain("Diagnostics");
});

test("a long list of problems is cut short", async () => {
  const workspace = await place.project({});
  const text = Array.from({ length: 30 }, () => "let x = 1;").join("\n");
  const result = await callIn(workspace)(editor(), { command: "create", path: "a.js", file_text: text });
  const lines = diagnosed(result.text).split("\n");
  expect(lines.length).toBeLessThanOrEqual(10);
  expect(lines.at(-1)).toMatch(/^- and \d+ more$/);
});
