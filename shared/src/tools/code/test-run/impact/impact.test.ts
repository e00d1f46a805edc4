import { afterAll, beforeAll, expect, test } from "bun:test";
import { sha256Of } from "../../../../core/text/sha256.ts";
import { recordBaseline } from "../../../../machine/workspace/baseline.ts";
import { type CodePlace, callIn, openCodePlace } from "../../../../testing/code/code-place.ts";
import { runTestsTool } from "../run-tests.ts";
import { affectedTests } from "./affected-tests.ts";

let place: CodePlace;
beforeAll(async () => {
  place = await openCodePlace();
});
afterAll(() => place.close());

/** The tests affected by a change of these files. */
const affected = (files: Readonly<Record<string, string>>, changed: readonly string[], root = ".") =>
  affectedTests(changed, new Map(Object.entries(files)), root);

const scripts = {
  "src/a.ts": "export const a = 1;",
  "src/b/index.ts": 'export { a } from "../a.js";',
  "src/c.tsx": 'const b = await import("./b");',
  "src/alone.ts": "",
  "src/a.test.ts": 'import { a } from "./a.ts";',
  "src/c.spec.tsx": "import { b } from './c';",
  "src/alone.test.ts": 'import "./alone";',
  "test/legacy.test.cjs": 'const { a } = require("../src/b");',
};

test("tests of JavaScript and TypeScript are affected through every import on the way", () => {
  expect(affected(scripts, ["src/a.ts"])).toEqual({
    tests: ["src/a.test.ts", "src/c.spec.tsx", "test/legacy.test.cjs"],
    all: 4,
  });
  expect(affected(scripts, ["src/alone.ts", "README.md"])).toMatchObject({ tests: ["src/alone.test.ts"] });
  expect(affected(scripts, ["src/c.spec.tsx"])).toMatchObject({ tests: ["src/c.spec.tsx"] });
  expect(affected({ ...scripts, "src/new.test.ts": 'import "./gone"' }, ["src/gone.ts"])).toMatchObject({
    tests: ["src/new.test.ts"],
  });
});

test("tests of Python are affected through packages, relative imports and conftest.py", () => {
  const files = {
    "p/src/shop/__init__.py": "",
    "p/src/shop/money.py": "",
    "p/src/shop/cart.py": "from . import money\nfrom .money import total as t\n",
    "p/tests/conftest.py": "",
    "p/tests/test_cart.py": "from shop.cart import Cart\n",
    "p/tests/test_other.py": "import os, json\n",
    "p/tests/deep/test_money.py": "    from shop import (money)\n",
  };
  expect(affected(files, ["p/src/shop/money.py"], "p")).toMatchObject({
    tests: ["p/tests/test_cart.py", "p/tests/deep/test_money.py"],
  });
  expect(affected(files, ["p/src/shop/__init__.py"], "p")).toMatchObject({
    tests: ["p/tests/test_cart.py", "p/tests/deep/test_money.py"],
  });
  expect(affected(files, ["p/tests/conftest.py"], "p")).toMatchObject({ tests: { length: 3 } });
});

test("a changed file whose effect imports do not show affects all tests", () => {
  for (const path of ["package.json", "src/a.css", "tsconfig.json", "schema.sql"])
    expect(affected(scripts, [path])).toEqual({ tests: undefined, why: `imports do not tell what ${path} affects` });
});

test("only the tests that a change reaches are run, and the result says how they were chosen", async () => {
  const unit = (name: string) =>
    `import unittest\nfrom ${name} import value\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(value, 1)\n`;
  const files = {
    "one.py": "value = 1\n",
    "two.py": "value = 1\n",
    "test_one.py": unit("one"),
    "test_two.py": unit("two"),
  };
  const named = Object.fromEntries(Object.entries(files).map(([path, text]) => [`app/${path}`, text]));
  const workspace = await place.project(named);
  const record = Object.entries(named).map(([path, text]) => ({ path, sha256: sha256Of(text) }));
  await recordBaseline(workspace, { root: "app", files: record }, (path) => new Blob([named[path] ?? ""]));
  const run = (input: object) => callIn(workspace)(runTestsTool(place), { path: "app", affected: true, ...input });
  expect((await run({})).text).toBe("No file differs from what arrived, so no test is affected.");
  await Bun.write(`${workspace.root}/app/two.py`, "value = 2\n");
  const { text } = await run({});
  expect(text).toStartWith("1 of 1 tests failed.");
  expect(text).toContain("1 of 2 test files can be reached from the 1 changed.");
  expect(text).toContain("test_two");
  expect((await run({ command: "python3 -m unittest" })).text).toContain(
    "All tests were run: its command takes no files.",
  );
  await Bun.write(`${workspace.root}/app/data.csv`, "1\n");
  const all = (await run({})).text;
  expect(all).toStartWith("1 of 2 tests failed.");
  expect(all).toContain("All tests were run: imports do not tell what app/data.csv affects.");
});
