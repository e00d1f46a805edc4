import { expect, test } from "bun:test";
import type { SandboxCommand } from "../../../machine/sandbox/sandbox.ts";
import { workspaceForTest } from "../../../testing/machine/workspace.ts";
import { processByHand } from "../../../testing/sandbox/process-by-hand.ts";
import { contextForTest } from "../../../testing/tool-context.ts";
import { searchTool } from "./search.ts";

/** What a search says whose program wrote this, and how the program was called. */
async function searched(said: { stdout?: string; stderr?: string; limit?: string }, input: object = {}) {
  await using place = await workspaceForTest();
  const asked: SandboxCommand[] = [];
  const sandbox = {
    async spawn(command: SandboxCommand) {
      asked.push(command);
      const byHand = processByHand({ ...(said.limit !== undefined && { limitHit: said.limit }) });
      if (said.stdout) byHand.says("stdout", said.stdout);
      if (said.stderr) byHand.says("stderr", said.stderr);
      byHand.exits(0);
      return byHand.process;
    },
  };
  const tool = searchTool({ sandbox: sandbox as never });
  const { text, isError } = await tool.call({ pattern: "-x", ...input }, contextForTest(place.workspace));
  return { text, isError, argv: asked[0]?.argv ?? [] };
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
