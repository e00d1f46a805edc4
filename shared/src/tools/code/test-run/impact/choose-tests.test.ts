import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { sha256Of } from "../../../../core/text/sha256.ts";
import type { Sandbox, SandboxCommand } from "../../../../machine/sandbox/sandbox.ts";
import { recordBaseline } from "../../../../machine/workspace/baseline.ts";
import { workspaceForTest } from "../../../../testing/machine/workspace.ts";
import { processByHand } from "../../../../testing/sandbox/process-by-hand.ts";
import { contextForTest } from "../../../../testing/tool-context.ts";
import { runTestsTool } from "../run-tests.ts";
import { chooseTests } from "./choose-tests.ts";
import { importsOf } from "./imports.ts";

let place: Awaited<ReturnType<typeof workspaceForTest>>;
beforeEach(async () => {
  place = await workspaceForTest();
});
afterEach(() => place[Symbol.asyncDispose]());

/** A project whose files arrived like this, of which some were changed since. */
async function project(files: Readonly<Record<string, string>>, changed: readonly string[] = []) {
  const { workspace } = place;
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(workspace.root, path)), { recursive: true });
    await writeFile(join(workspace.root, path), changed.includes(path) ? `${text}\n` : text);
  }
  const arrived = Object.entries(files).map(([path, text]) => ({ path, sha256: sha256Of(text) }));
  await recordBaseline(workspace, { root: "p", files: arrived }, (path) => new Blob([files[path] ?? ""]));
  return Object.keys(files);
}
const choose = (paths: readonly string[], command = "bun test", signal = new AbortController().signal) =>
  chooseTests({ folder: "./p", paths, command }, contextForTest(place.workspace, { signal }));

const files = {
  "p/src/a.ts": "export const a = 1;",
  "p/src/alone.ts": "",
  "p/test/it's a.test.ts": 'import { a } from "../src/a.ts";',
  "p/test/b.test.ts": "",
};

test("the tests of a change are named for the runner, whatever characters their names have", async () => {
  const paths = await project(files, ["p/src/a.ts"]);
  const note = "1 of 2 test files can be reached from the 1 changed.";
  const name = "'./test/it'\\''s a.test.ts'";
  expect(await choose(paths)).toEqual({ command: `bun test ${name}`, note });
  expect(await choose(paths, "npm test")).toEqual({ command: `npm test -- ${name}`, note });
  expect(await choose(paths, "make test")).toEqual({ note: "All tests were run: its command takes no files." });
});

test("a change that no test reaches runs none, and says so", async () => {
  const paths = await project(files, ["p/src/alone.ts"]);
  expect(await choose(paths)).toEqual({
    none: true,
    note: "0 of 2 test files can be reached from the 1 changed: no test covers the change.",
  });
});

test("where there are too many files all tests are run, and whoever cancels does not wait for them to be read", async () => {
  const paths = await project(files, ["p/src/a.ts"]);
  const most = [...paths, ...Array.from({ length: 4_996 }, (_, n) => `gone/${n}.txt`)];
  expect((await choose(most)).command).toBeDefined();
  const many = [...paths, ...Array.from({ length: 4_997 }, (_, n) => `gone/${n}.ts`)];
  expect(await choose(many)).toEqual({ note: "All tests were run: there are more than 5000 files." });
  await expect(choose(paths, "bun test", AbortSignal.abort(new Error("stopped")))).rejects.toThrow("stopped");
});

test("a module of Python is in each of its packages", () => {
  const all = new Set(["a/__init__.py", "a/b/__init__.py", "a/b/c.py", "__init__.py", "a/b/c/__init__.py"]);
  expect([...importsOf("x.py", "import a.b.c\n", all, ".")].toSorted()).toEqual([
    ...["a/__init__.py", "a/b/__init__.py", "a/b/c.py", "a/b/c/__init__.py"],
  ]);
});

/** What the tool says whose programs say this one after the other, and what it started. */
async function ran(input: object, said: readonly { stdout: string; exitCode?: number; limitHit?: string }[]) {
  const asked: SandboxCommand[] = [];
  const sandbox = {
    async spawn(command: SandboxCommand) {
      const { stdout = "", exitCode = 0, limitHit } = said[asked.length] ?? {};
      asked.push(command);
      const byHand = processByHand({ ...(limitHit !== undefined && { limitHit }) });
      byHand.says("stdout", stdout);
      byHand.exits(exitCode);
      return byHand.process;
    },
  } as unknown as Sandbox;
  return { ...(await runTestsTool({ sandbox }).call(input, contextForTest(place.workspace))), asked };
}

test("tests that were stopped are no result, whatever was counted until then", async () => {
  const counted = { stdout: " 3 pass\n 1 fail\n", exitCode: 1 };
  const failed = await ran({ command: "x", timeout: 10 }, [counted]);
  expect([failed.isError, failed.text.split("\n")[0]]).toEqual([false, "1 of 4 tests failed."]);
  expect(failed.asked[0]?.limits).toEqual({ wallMs: 10_000, cpuSeconds: 20 });
  const stopped = await ran({ command: "x" }, [{ ...counted, limitHit: "wall time 300 s" }]);
  expect([stopped.isError, stopped.text.split("\n")[0]]).toEqual([
    true,
    "The tests were stopped before their end (wall time 300 s).",
  ]);
});

test("where nothing changed no test is started", async () => {
  await project(files);
  const { text, isError, asked } = await ran({ command: "bun test", path: "p", affected: true }, [
    {
      stdout: Object.keys(files)
        .map((path) => `./${path}\0`)
        .join(""),
    },
  ]);
  expect([isError, text, asked.length]).toEqual([
    false,
    "No file differs from what arrived, so no test is affected.",
    1,
  ]);
});
