import { expect, test } from "bun:test";
import type { Sandbox } from "@manyhands/shared/sandbox/sandbox";
import { defineTool } from "@manyhands/shared/tools/tool";
import * as z from "zod";
import { swe } from "./agent.ts";

const bash = defineTool({
  name: "bash",
  description: "A shell.",
  input: z.strictObject({ command: z.string() }),
  effect: "once",
  run: async () => "",
});

const sandbox: Sandbox = {
  tier: "none",
  description: "none",
  user: undefined,
  spawn: () => Promise.reject(new Error("no sandbox")),
  close: async () => undefined,
};

const names = (shell: Parameters<typeof swe>[0]["shell"]) => swe({ shell, sandbox }).tools.map(({ name }) => name);

test("SWE has OpenManus's tools and those that code asks for", () => {
  expect(names([bash])).toEqual([
    "planning",
    "bash",
    "str_replace_editor",
    "unpack",
    "repo_map",
    "search",
    "glob",
    "apply_patch",
    "run_tests",
    "checkpoints",
    "ask_human",
    "terminate",
  ]);
});

test("without a sandbox it has no tool that needs one and promises to run no tests", () => {
  expect(names([])).toEqual([
    "planning",
    "str_replace_editor",
    "unpack",
    "apply_patch",
    "checkpoints",
    "ask_human",
    "terminate",
  ]);
  expect(swe({ shell: [], sandbox }).skills.map(({ id }) => id)).toEqual(["change-code"]);
});

test("configured limits go over its own", () => {
  expect(swe({ shell: [], sandbox, limits: { steps: 3 } }).limits.steps).toBe(3);
});
