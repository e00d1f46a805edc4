import { expect, test } from "bun:test";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { unmadeFiles } from "./unmade-files.ts";

test("a file is unmade if the task's words ask for it and no folder has one of its name", async () => {
  await using at = await workspaceForTest();
  await Bun.write(`${at.workspace.root}/out/Report.md`, "x");
  await Bun.write(`${at.workspace.root}/data.csv`, "x");
  let opened = 0;
  const unmade = (...texts: string[]) => {
    const parts = texts.map((text) => ({ type: "text", text }));
    return unmadeFiles({ goal: { role: "user", parts: [{ type: "url", url: "x" }, ...parts] } } as never, async () => {
      opened++;
      return at.workspace;
    });
  };
  expect(await unmade("Look at this.", "Write report.md and results/sums.csv.")).toEqual(["results/sums.csv"]);
  expect(await unmade("Save docs/data.csv and out/report.md.")).toEqual([]);
  expect(opened).toBe(2);
  expect(await unmade("How do I write notes.md?")).toEqual([]);
  expect(opened).toBe(2);
  expect(
    await unmadeFiles({ goal: { role: "summary", text: "Write a.md." } } as never, async () => at.workspace),
  ).toEqual([]);
});
