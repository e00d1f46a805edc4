import { afterAll, beforeAll, expect, test } from "bun:test";
import { resolve } from "node:path";
import { ownScriptArgv } from "../../../machine/process/own-script.ts";
import { type CodePlace, callIn, openCodePlace } from "../../../testing/code/code-place.ts";
import { mapFiles } from "./map-files.ts";
import { repoMapTool } from "./repo-map.ts";

let place: CodePlace;
beforeAll(async () => {
  place = await openCodePlace();
});
afterAll(() => place.close());

const { signal } = new AbortController();

const samples: readonly (readonly [string, string, readonly string[]])[] = [
  [
    "a.ts",
    "export class A<T> {\n  get(x: number) {\n    return x;\n  }\n}\nexport const make = async () => 1;\nexport const limit = 3;\nconst inner = 4;\nnamespace N {\n  export function z() {}\n}\n",
    ["1:0:A", "2:1:get", "6:0:make", "7:0:limit", "9:0:N", "10:1:z"],
  ],
  ["a.tsx", "export function View() {\n  return <b />;\n}\n", ["1:0:View"]],
  ["a.js", "function f() {\n  function g() {}\n}\n", ["1:0:f"]],
  [
    "a.py",
    "@x\nclass A(B):\n    @property\n    def f(self):\n        def g(): pass\n\nasync def h(): pass\n",
    ["2:0:A", "4:1:f", "7:0:h"],
  ],
  ["a.go", "package a\ntype T struct{}\nfunc (t *T) M(x int) {}\nfunc F() {}\n", ["2:0:T", "3:0:M", "4:0:F"]],
  [
    "a.rs",
    "pub struct A;\nimpl Foo for A {\n    fn f(&self) {}\n}\nmod m {\n    fn g() {}\n}\n",
    ["1:0:A", "2:0:A", "3:1:f", "5:0:m", "6:1:g"],
  ],
  [
    "A.java",
    "public class A {\n  @Override\n  void f(int x) {}\n  interface I { void q(); }\n}\n",
    ["1:0:A", "3:1:f", "4:1:I", "4:2:q"],
  ],
  [
    "a.cpp",
    "namespace n {\nclass A : B {\n  void f(int x) { return; }\n};\n}\nint A::h(int a) { return 1; }\nstatic char **k(void) { return 0; }\nstruct S *s;\n",
    ["1:0:n", "2:1:A", "3:2:f", "6:0:A::h", "7:0:k"],
  ],
  ["a.rb", "module M\n  class A < B\n    def f(x); end\n  end\nend\n", ["1:0:M", "2:1:A", "3:2:f"]],
  ["a.php", "<?php\nclass A {\n  function f($x) {}\n}\nfunction g() {}\n", ["2:0:A", "3:1:f", "5:0:g"]],
  ["a.cs", "namespace N {\nclass A {\n  void F(int x) {}\n}\n}\n", ["1:0:N", "2:1:A", "3:2:F"]],
];

test.each(samples)("the definitions in %s are found with their lines", async (path, text, expected) => {
  const [file] = await mapFiles([{ path, text }], signal);
  expect(file?.symbols.map(({ line, depth, name }) => `${line}:${depth}:${name}`)).toEqual([...expected]);
});

test("the map shows first what the rest uses, within its tokens, and not what .gitignore names", async () => {
  const unused = Object.fromEntries(
    Array.from({ length: 30 }, (_, n) => [`src/z${n}.py`, `def alone${n}():\n    return helper(${n})\n`]),
  );
  const workspace = await place.project({
    ".gitignore": "build/\n",
    "build/made.py": "def helper(): pass\n",
    "README.md": "# x\n",
    "src/helper.py": "class Tool:\n    def run(self, x):\n        pass\n\ndef helper(n):\n    return n\n",
    ...unused,
  });
  const { text, isError } = await callIn(workspace)(repoMapTool(place), { tokens: 300 });
  expect(isError).toBe(false);
  expect(text).toStartWith("src/helper.py\n    1 class Tool\n    2   def run(self, x)\n    5 def helper(n)\n");
  expect(text).not.toContain("build/");
  expect(text).toMatch(/\[\d+ more files with definitions: src\/z/);
  expect(text).toContain("[other files: ");
  expect(text.length).toBeLessThan(1800);
});

test("a single folder or file can be mapped, and the result says if it has no definitions", async () => {
  const workspace = await place.project({ "a/x.py": "def x(): pass\n", "b/y.py": "def y(): pass\n", "c.txt": "c\n" });
  const call = callIn(workspace);
  expect((await call(repoMapTool(place), { path: "b" })).text).toBe("b/y.py\n    1 def y(): pass");
  expect((await call(repoMapTool(place), { path: "a/x.py" })).text).toContain("def x()");
  expect((await call(repoMapTool(place), { path: "c.txt" })).text).toContain("No definitions were found");
  expect((await call(repoMapTool(place), { path: "../.." })).text).toContain("outside the workspace");
});

test("files made to break a parser cost at most their own definitions", async () => {
  const hostile = {
    "deep.js": "(".repeat(100_000),
    "wide.py": `x = ${"[".repeat(50_000)}`,
    "long.ts": `const a = 1;${"function f(){} ".repeat(10_000)}`,
    "nul.py": "\0\0def f(): pass\n",
    "nest.java": "class A { ".repeat(5_000),
  };
  const files = Object.entries({ ...hostile, "good.py": "def good(): pass\n" }).map(([path, text]) => ({ path, text }));
  const started = performance.now();
  const mapped = await mapFiles(files, signal);
  expect(mapped.find(({ path }) => path === "good.py")?.symbols.map(({ name }) => name)).toEqual(["good"]);
  expect(performance.now() - started).toBeLessThan(90_000);
});

test("of definitions inside one another, and of very many, no more are found than a map can have", async () => {
  const names = Array.from({ length: 20 }, (_, n) => `class C${n} { `);
  const many = Array.from({ length: 2_100 }, (_, n) => `def f${n}(): pass\n`).join("");
  const long = `def f(${"a, ".repeat(60)}b): pass\n`;
  const [nested, counted, shortened] = await mapFiles(
    [
      { path: "N.java", text: names.join("") + "}".repeat(20) },
      { path: "many.py", text: many },
      { path: "long.py", text: long },
    ],
    signal,
  );
  expect(nested?.symbols.length).toBeGreaterThan(3);
  expect(nested?.symbols.length).toBeLessThan(15);
  expect(counted?.symbols.length).toBe(2_000);
  expect(shortened?.symbols.map(({ text }) => text)).toEqual(["… f …"]);
});

test("once its time is over no further file is begun", async () => {
  const request = { files: [{ path: "a.py", text: "def f(): pass" }], timeoutMs: 0 };
  const argv = ownScriptArgv(resolve(import.meta.dir, "map-worker.ts"));
  const child = Bun.spawn(argv, { cwd: "/", env: {}, stdin: new Blob([JSON.stringify(request)]), stderr: "inherit" });
  expect(await new Response(child.stdout).json()).toEqual({ files: [] });
});

test("an abort ends the mapping with its reason", async () => {
  const abort = new AbortController();
  const mapping = mapFiles([{ path: "a.py", text: "x = 1\n".repeat(40_000) }], abort.signal);
  abort.abort(new Error("enough"));
  await expect(mapping).rejects.toThrow("enough");
});

test("this code base is mapped in seconds", async () => {
  const folder = resolve(import.meta.dir, "..");
  const paths = [...new Bun.Glob("**/*.ts").scanSync({ cwd: folder })];
  const files = await Promise.all(
    paths.map(async (path) => ({ path, text: await Bun.file(`${folder}/${path}`).text() })),
  );
  const started = performance.now();
  expect((await mapFiles(files, signal)).length).toBe(files.length);
  expect(performance.now() - started).toBeLessThan(90_000);
});
