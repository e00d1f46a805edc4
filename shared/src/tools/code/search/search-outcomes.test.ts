import { expect, test } from "bun:test";
import type { SandboxCommand } from "../../../machine/sandbox/sandbox.ts";
import { workspaceForTest } from "../../../testing/machine/workspace.ts";
import { processByHand } from "../../../testing/sandbox/process-by-hand.ts";
import { contextForTest } from "../../../testing/tool-context.ts";
import { globTool } from "./glob.ts";
import { fitsGlob } from "./list-code-files.ts";
import { searchTool } from "./search.ts";

type Said = { stdout?: string; stderr?: string; limit?: string; exitCode?: number };

/** What a search says whose programs wrote this one after the other, and how they were called. */
async function searched(all: Said | readonly Said[], input: object = {}, open = searchTool) {
  await using place = await workspaceForTest();
  const asked: SandboxCommand[] = [];
  const sandbox = {
    async spawn(command: SandboxCommand) {
      const said = [all].flat()[asked.length] ?? {};
      asked.push(command);
      const byHand = processByHand({ ...(said.limit !== undefined && { limitHit: said.limit }) });
      if (said.stdout) byHand.says("stdout", said.stdout);
      if (said.stderr) byHand.says("stderr", said.stderr);
      byHand.exits(said.exitCode ?? 0);
      return byHand.process;
    },
  };
  const tool = open({ sandbox: sandbox as never });
  const { text, isError } = await tool.call({ pattern: "-x", ...input }, contextForTest(place.workspace));
  return { text, isError, asked, argv: asked[0]?.argv ?? [] };
}

test.each([
  [{}, false, "No matches."],
  [{ stdout: "./a.ts\n1:x\n" }, false, "a.ts\n1:x"],
  [{ stdout: "a.ts\n1:x\n", limit: "wall time 30 s" }, false, "a.ts\n1:x\n[stopped at its limit: wall time 30 s]"],
  [{ limit: "wall time 30 s" }, true, "The search was stopped at its limit: wall time 30 s."],
  [{ stderr: "rg: regex parse error\n" }, true, "regex parse error"],
  [{ stdout: "a.ts\n1:x\n", stderr: "rg: a file could not be read" }, false, "a.ts\n1:x"],
])("a search whose program says %j", async (said, isError, text) => {
  expect(await searched(said)).toMatchObject({ isError, text });
});

test("as many lines are shown as are asked for, and how many more there are; a pattern is no switch", async () => {
  const stdout = "a.ts\n1:x\n2-y\n\nb.ts\n3:x\n4:x\n";
  expect((await searched({ stdout }, { max_results: 4 })).text).toBe(stdout.trim());
  expect((await searched({ stdout }, { max_results: 2 })).text).toBe(
    "a.ts\n1:x\n2-y\n\nb.ts\n[at least 2 more lines; make the search narrower]",
  );
  const { argv } = await searched({});
  expect(argv.slice(argv.indexOf("--"))).toEqual(["--", "-x", "."]);
  expect(argv).not.toContain("--fixed-strings");
  expect((await searched({}, { literal: true, ignore_case: true })).argv).toEqual(
    expect.arrayContaining(["--fixed-strings", "--ignore-case"]),
  );
});

const unsearched = ["--hidden", "--no-require-git", "--no-config", "--glob=!.git", "--glob=!.manyhands/"];

test("a search reads no settings, leaves out git's files and ours, and is bounded in each file and line", async () => {
  const shape = ["--heading", "--with-filename", "--line-number", "--color=never", "--sort=path"];
  const bounds = ["--max-count=100", "--max-columns=300", "--max-columns-preview", "--context=2"];
  expect((await searched({}, { context: 2 })).asked).toMatchObject([
    { argv: ["rg", ...shape, ...bounds, ...unsearched, "--", "-x", "."], limits: { wallMs: 30_000 } },
  ]);
  const { asked } = await searched([{ stdout: "./a.ts\0" }, {}], { glob: "*.ts" });
  const limits = { wallMs: 20_000, outputBytes: 4 * 1024 ** 2 };
  expect(asked).toMatchObject([
    { argv: ["rg", "--files", "--null", "--sort=path", ...unsearched, "--", "."], limits },
    { argv: ["xargs", "-0", "rg", ...shape, ...bounds.with(3, "--context=0"), ...unsearched, "--", "-x"] },
  ]);
  const listed = await searched({ stdout: "./a.ts\0" }, { pattern: "*.ts" }, globTool);
  expect(listed.argv).toEqual(["rg", "--files", "--null", "--sortr=modified", ...unsearched, "--", "."]);
});

test("files that cannot be listed are an error, and a list that was cut says so, with what is in it", async () => {
  const pattern = "*.ts";
  expect(await searched({ stderr: "rg: no such folder", exitCode: 2 }, { pattern }, globTool)).toMatchObject({
    isError: true,
    text: expect.stringContaining("no such folder"),
  });
  expect((await searched({ exitCode: 2 }, { pattern }, globTool)).text).toContain("ripgrep failed.");
  expect((await searched({ exitCode: 1 }, { pattern }, globTool)).text).toBe("No file matches *.ts.");
  const partly = { stdout: "./a.ts\0./b.ts\0./c.t", exitCode: 2 };
  expect((await searched(partly, { pattern }, globTool)).text).toBe("a.ts\nb.ts");
  const limit = "output 4 MB";
  expect((await searched({ limit }, { pattern }, globTool)).text).toBe(
    "No file matches *.ts among the first ones listed.",
  );
  const cut = "[there were too many files to list them all]";
  expect((await searched({ stdout: "./a.ts\0", limit }, { pattern }, globTool)).text).toBe(`a.ts\n${cut}`);
  const some = await searched([{ stdout: "./a.ts\0", limit }, { stdout: "a.ts\n1:x\n" }], { glob: pattern });
  expect(some.text).toBe("a.ts\n1:x\n[there were too many files to search them all]");
  const none = await searched({ stdout: "./a.js\0" }, { glob: pattern });
  expect([none.isError, none.text, none.asked.length]).toEqual([true, "No file below . matches the glob *.ts.", 1]);
  const many = Array.from({ length: 203 }, (_, n) => `./${n}.ts\0`).join("");
  const lines = (await searched({ stdout: many }, { pattern }, globTool)).text.split("\n");
  expect([lines.length, lines.at(-1)]).toEqual([201, "[3 more files; make the pattern narrower]"]);
});

test("a path that is not there is told, and not looked for", async () => {
  const { text, isError, asked } = await searched({}, { path: "gone" });
  expect([isError, text, asked.length]).toEqual([true, "The path gone does not exist.", 0]);
});

test.each([
  ["*.ts", "a/b/c.ts", true],
  ["*.ts", "c.ts", true],
  ["src/*.ts", "src/c.ts", true],
  ["src/*.ts", "a/src/c.ts", false],
  ["./src/*.ts", "src/c.ts", true],
  ["/src/*.ts", "src/c.ts", true],
])("the pattern %s fits %s: %p", (pattern, path, fits) => {
  expect(fitsGlob(pattern)(path)).toBe(fits);
});
