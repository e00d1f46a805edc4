import { expect, test } from "bun:test";
import * as z from "zod";
import { defineTool } from "../../core/tools/define-tool.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import { tellingReach } from "./telling-reach.ts";

const reach = { told: "It reaches nothing.", whenMissed: "It reaches nothing: install nothing." };
const echo = defineTool({
  name: "echo",
  description: "Echoes.",
  input: z.strictObject({ text: z.string() }),
  effect: "pure",
  run: async ({ text }) => text,
});

test.each([
  ["ModuleNotFoundError: No module named 'matplotlib'", true],
  ["error: externally-managed-environment", true],
  ["curl: (6) Could not resolve host: pypi.org", true],
  ["npm error code EAI_AGAIN", true],
  ["Error: Cannot find module 'left-pad'", true],
  ["Error: Cannot find module './sums.js'", false],
  ["AssertionError: 1 != 2", false],
])("after %p what can be reached is told again: %p", async (text, isTold) => {
  await using at = await workspaceForTest();
  const tool = tellingReach(echo, reach);
  expect(tool.description).toBe("Echoes. It reaches nothing.");
  const result = await tool.call({ text }, contextForTest(at.workspace));
  expect(result.text).toBe(isTold ? `${text}\n[It reaches nothing: install nothing.]` : text);
});
