import { expect, test } from "bun:test";
import { defineTool } from "@manyhands/shared/tools/tool";
import * as z from "zod";
import { manus } from "./agent.ts";

const bash = defineTool({
  name: "bash",
  description: "A shell.",
  input: z.strictObject({ command: z.string() }),
  effect: "once",
  run: async () => "",
});

test("Manus has the tools OpenManus users know, by their names", () => {
  const names = manus({ shell: [bash] }).tools.map(({ name }) => name);
  expect(names).toEqual(["planning", "bash", "str_replace_editor", "ask_human", "terminate"]);
});

test("the card promises to run code only where there is something to run it with", () => {
  const skills = (shell: Parameters<typeof manus>[0]["shell"]) => manus({ shell }).skills.map(({ id }) => id);
  expect(skills([bash])).toContain("run-code");
  expect(skills([])).not.toContain("run-code");
});

test("configured limits go over its own, the others stay", () => {
  const { limits } = manus({ shell: [], limits: { steps: 3 } });
  expect(limits.steps).toBe(3);
  expect(limits.tokens).toBe(manus({ shell: [] }).limits.tokens);
});

test("the prompt names no tool that is not there", () => {
  const { instructions } = manus({ shell: [] });
  const tools = manus({ shell: [bash] }).tools.map(({ name }) => name);
  const named = ["planning", "ask_human", "terminate", "browser_use", "web_search"].filter((name) =>
    instructions.includes(name),
  );
  expect(named.filter((name) => !tools.includes(name))).toEqual([]);
});
